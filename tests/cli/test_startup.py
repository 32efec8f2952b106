"""The command as a process: quick to answer, helpful, interruptible."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

pytest.importorskip("click")

RCWEB = (sys.executable, "-m", "rcweb.cli")
COMMANDS = (
    "fit", "transform", "annotate", "explain", "contrast", "associate", "compare", "simulate",
    "bench", "demo",
)  # fmt: skip


def test_help_lists_every_command():
    text = subprocess.run([*RCWEB, "--help"], capture_output=True, text=True, check=True).stdout
    assert all(command in text for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_an_example(command, capsys):
    """The example is what people copy."""
    from rcweb.cli.app import run

    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"Example:\n  rcweb {command} " in text.replace("    rcweb", "  rcweb").replace(
        "  Example", "Example"
    )


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_nothing_heavy_is_imported_for_help(arguments):
    """Help answers at once because of this; a careless import at the top of a module shows here."""
    code = (
        f"import sys; from rcweb.cli.app import run; run({arguments}); "
        "print([m for m in ('numpy', 'pandas', 'scipy', 'sklearn', 'numba') if m in sys.modules])"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert output.strip().endswith("[]")


def test_without_click_the_extra_is_named():
    """The library works without the command line; the command says what to install."""
    code = "import sys; sys.modules['click'] = None; from rcweb.cli import main; main(['fit'])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 4
    assert "pip install 'rcweb[cli]'" in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_in_a_real_process(tmp_path):
    """A fit is interrupted: code 130, advice instead of a traceback, no litter."""
    code = (
        # A shell starts background jobs with SIGINT ignored, and children inherit that.
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import sys, time; import rcweb.estimator as e\n"
        "def slow(self, X, y=None):\n"
        "    print('fitting now', file=sys.stderr, flush=True); time.sleep(60)\n"
        "e.RCweb.fit = slow\n"
        "from rcweb.cli import main; main(sys.argv[1:])"
    )
    (tmp_path / "t.csv").write_text(",a,b,c\ns1,1,2,3\ns2,4,5,7\ns3,1,0,2\n")
    process = subprocess.Popen(
        [sys.executable, "-c", code, "fit", str(tmp_path / "t.csv"), "-o", str(tmp_path / "out")],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "fitting now" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, error = process.communicate()
    assert process.returncode == 130
    assert "interrupted." in error
    assert "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
