"""``py.typed`` is a promise: a strictly checked program can use the public interface."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import rcweb

HERE = Path(__file__).parent
SOURCE = Path(rcweb.__file__).parents[1]


def strictly_checked(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """mypy in `folder`, away from the settings of this repository."""
    pytest.importorskip("mypy")
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--cache-dir=cache"]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, *map(str, files)],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_public_interface_is_typed(tmp_path) -> None:
    """And a wrong use of it is found: types that are not Any can be wrong."""
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "from rcweb import RCweb\n"
        "from rcweb.simulate import simulate\n"
        "n: str = RCweb().fit(simulate(20, 10, 2).data).n_components_\n"
        "simulate(n_sample=3)\n"
        "RCweb().network_.edge()\n",
        encoding="utf-8",
    )
    run = strictly_checked(tmp_path, HERE / "public_api.py", wrong)
    lines = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in lines] == ["3", "4", "5"], run.stdout + run.stderr
    assert all(line.startswith("wrong.py") for line in lines)


def test_the_marker_is_there() -> None:
    """Installed as a wheel, mypy ignores the types of a package without it."""
    assert (SOURCE / "rcweb" / "py.typed").is_file()
