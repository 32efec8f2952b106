"""Ctrl-C at any moment of a process: a message, exit code 130, no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("click")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")

FIT = ("--method", "paper", "--components", "4", "-q")
START = """
import atexit, os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job starts with it ignored

def interrupt(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGINT)

"""
RUN = "\nfrom rcweb.cli import main; main(sys.argv[1:])"
IMPORT = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            {action}
sys.meta_path.insert(0, Finder())
"""


def interrupted(code: str, planted: Path, out: Path) -> str:
    """What a fit says that is interrupted as `code` says."""
    command = [sys.executable, "-c", START + code + RUN]
    done = subprocess.run(
        [*command, "fit", str(planted / "data.tsv"), "-o", str(out), *FIT],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert "rcweb: interrupted" in done.stderr
    return done.stderr


@pytest.mark.parametrize("name", ["click", "rcweb.cli.app", "pandas", "numba"])
def test_while_packages_are_imported(planted, tmp_path, name):
    """Ours and others', early and late."""
    code = IMPORT.format(name=name, action="interrupt()")
    interrupted(code, planted, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "handler",
    ["raise ImportError('numba is broken')", "raise ValueError('odd')", "pass"],
    ids=["ImportError", "ValueError", "nothing"],
)
def test_an_interruption_that_a_package_turns_into_something_else(planted, tmp_path, handler):
    """Compiled packages do, while they are imported; nothing is fitted or written all the same."""
    action = f"\n            try: interrupt()\n            except KeyboardInterrupt: {handler}"
    interrupted(IMPORT.format(name="pandas", action=action), planted, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", ["summary", "shutdown"])
def test_after_the_result_was_written(planted, tmp_path, moment):
    """It is complete, and that is said."""
    code = {
        "summary": "import rcweb.cli.fit as fit; fit.summarise = interrupt",
        "shutdown": "atexit.register(interrupt)",
    }[moment]
    said = interrupted(code, planted, tmp_path / "out")
    assert ("The result is complete, in" if moment == "summary" else "the work was done") in said
    assert (tmp_path / "out" / "report.html").is_file()


def test_where_interruptions_are_ignored_they_stay_so(planted, tmp_path):
    """As in jobs that a shell started in the background."""
    code = (
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import rcweb.cli.fit as fit; summarise = fit.summarise\n"
        "fit.summarise = lambda *args: interrupt() or summarise(*args)"
    )
    command = [sys.executable, "-c", START + code + RUN, "fit", str(planted / "data.tsv")]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "out"), *FIT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
