"""The tests with the oldest and the newest versions that the package promises to work with, and
the package as it is released.

``nox`` runs all sessions, ``nox -s lowest -- tests/tables`` one of them on a part of the tests,
``nox -s dist`` builds the package and tries it (docs/releasing.md).
"""

from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
nox.options.error_on_missing_interpreters = False
# `dist` calls `wheel`.
nox.options.sessions = ["lowest", "newest", "dist"]

ROOT = Path(__file__).parent
DIST = ROOT / "dist"
RELEASE = ROOT / "tests" / "release"
EXTRAS = ["core", "cli", "plot", "graph", "tables", "anndata", "scale", "all"]
# rattler-build reads the conda recipe; to build it takes the channel conda-forge.
RENDERED = (
    "import sys; from rattler_build import Stage0Recipe as R, VariantConfig as V; "
    "print(*R.from_file(sys.argv[1]).render(V()))"
)


@nox.session(python="3.11")
def lowest(session: nox.Session) -> None:
    """Every direct dependency at its lower bound in pyproject.toml."""
    _test(session, "--resolution", "lowest-direct")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def newest(session: nox.Session) -> None:
    """The newest versions that there are for each Python."""
    _test(session, "--upgrade")


@nox.session
def dist(session: nox.Session) -> None:
    """Source archive and wheel in dist/, what is in them, and the wheel with every extra."""
    session.install("build[uv]", "twine", "cffconvert", "py-rattler-build")
    for old in DIST.glob("rcweb-*"):
        old.unlink()
    session.run("python", "-m", "build", "--installer", "uv", "--outdir", DIST, ROOT)
    session.run("twine", "check", "--strict", *_built())
    session.run("python", RELEASE / "contents.py", *_built())
    session.run("cffconvert", "--validate", "--infile", ROOT / "CITATION.cff")
    session.run("python", "-c", RENDERED, ROOT / "recipe" / "recipe.yaml")
    for extra in EXTRAS:
        session.notify(f"wheel(extra={extra!r})")


@nox.session
@nox.parametrize("extra", EXTRAS)
def wheel(session: nox.Session, extra: str) -> None:
    """The wheel in dist/ in an environment with nothing else, used without an extra ("core"), with
    one of them, and with all."""
    built = [path for path in _built() if path.suffix == ".whl"]
    if not built:
        session.error("there is no wheel in dist/; run nox -s dist")
    session.install(f"{built[0]}[{extra}]" if extra != "core" else str(built[0]))
    # Outside the repository, whose own rcweb must not be the one imported.
    session.chdir(session.create_tmp())
    alone = {"PYTHONPATH": ""}
    session.run("python", RELEASE / "smoke.py", *([extra] if extra != "core" else []), env=alone)
    if extra == "all":
        session.install("mypy", "pandas-stubs")
        program = ROOT / "tests" / "typing" / "public_api.py"
        session.run("mypy", "--strict", "--config-file=", program, env=alone)


def _test(session: nox.Session, *resolution: str) -> None:
    session.install(*resolution, "--editable", ".[dev]")
    session.run("python", "-m", "pytest", *session.posargs)


def _built() -> list[Path]:
    return sorted(DIST.glob("rcweb-*"))
