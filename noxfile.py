"""The tests with the oldest and the newest versions that the package promises to work with.

``nox`` runs all sessions, ``nox -s lowest -- tests/tables`` one of them on a part of the tests.
"""

import nox

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Every direct dependency at its lower bound in pyproject.toml."""
    _test(session, "--resolution", "lowest-direct")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def newest(session: nox.Session) -> None:
    """The newest versions that there are for each Python."""
    _test(session, "--upgrade")


def _test(session: nox.Session, *resolution: str) -> None:
    session.install(*resolution, "--editable", ".[dev]")
    session.run("python", "-m", "pytest", *session.posargs)
