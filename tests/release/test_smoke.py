"""What ``nox -s wheel`` tries in fresh environments, here in the present one."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
import smoke

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
MISSING = [
    (extra, package)
    for extra, record in smoke.EXTRAS.items()
    for package in record.without
    if package != "click"  # its check is another process; see below
]


def test_the_core(tmp_path) -> None:
    smoke.core(tmp_path)


@pytest.mark.parametrize("extra", smoke.EXTRAS)
def test_an_extra(extra, tmp_path) -> None:
    for package in smoke.EXTRAS[extra].packages:
        pytest.importorskip(package)
    smoke.EXTRAS[extra].use(tmp_path)


@pytest.mark.parametrize(("extra", "package"), MISSING)
def test_a_missing_package_is_named_with_its_extra(extra, package, monkeypatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # an import of it fails
    smoke.check_missing(extra, package)


def test_the_command_line_without_click(monkeypatch, tmp_path) -> None:
    (tmp_path / "click.py").write_text("raise ImportError")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    smoke.check_missing("cli", "click")


def test_every_extra_for_users_is_tried() -> None:
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert set(smoke.EXTRAS) == set(extras) - {"all", "bench", "docs", "dev"}
    assert extras["all"] == [f"rcweb[{','.join(smoke.EXTRAS)}]"]
    for name, record in smoke.EXTRAS.items():
        listed = {line.split(">=")[0].split("[")[0] for line in extras[name]}
        assert listed == set(record.packages)
