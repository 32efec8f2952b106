"""One planted table and one fit of it, for all tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("click")

from rcweb.cli.app import run

FIT = ("--method", "paper", "--components", "4")  # the fastest engine: the files matter here


@pytest.fixture(scope="session")
def planted(tmp_path_factory) -> Path:
    """Data with four regulators, small enough for a fit in a blink."""
    out = tmp_path_factory.mktemp("cli") / "planted"
    sizes = ("--samples", "80", "--variables", "60", "--regulators", "4", "--density", "0.15")
    assert run(["simulate", "-o", str(out), *sizes, "--noise", "0.02", "-q"]) == 0
    return out


@pytest.fixture(scope="session")
def found(planted) -> Path:
    out = planted.parent / "found"
    assert run(["fit", str(planted / "data.tsv"), "-o", str(out), *FIT, "-q"]) == 0
    return out
