"""What a command says, where, and how it ends."""

from __future__ import annotations

import io
import json
import sys
import time

import pytest

pytest.importorskip("click")

from rcweb.cli import console as module
from rcweb.cli.app import run

FIT = ("--method", "paper", "--components", "4")


def test_json_goes_to_stdout_and_progress_to_stderr(planted, tmp_path, capsys):
    """So that a pipe gets the result and nothing else."""
    data = str(planted / "data.tsv")
    assert run(["fit", data, "-o", str(tmp_path / "o"), *FIT, "--json", "-v"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["n_samples"] == 80
    assert "fitting" in output.err
    assert run(["fit", data, "-o", str(tmp_path / "o"), *FIT, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_long_steps_show_signs_of_life(capsys, monkeypatch):
    """After two seconds a line, then another now and then; none for a quick step."""
    monkeypatch.setattr(module, "_FIRST_SIGN", 0.05)
    monkeypatch.setattr(module, "_EVERY", 0.05)
    said = ""
    with module.Console().step("slow thing"):
        while said.count("slow thing ...") < 2:
            time.sleep(0.01)
            said += capsys.readouterr().err
    monkeypatch.setattr(module, "_FIRST_SIGN", 3600.0)
    capsys.readouterr()
    with module.Console().step("quick thing"):
        pass
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_one_line_that_is_cleaned_up(monkeypatch):
    """Progress must not scroll the screen full."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(module, "_FIRST_SIGN", 0.05)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with module.Console().step("slow thing"):
        while not terminal.getvalue():
            time.sleep(0.01)
    assert terminal.getvalue().startswith("\rslow thing ...")
    assert "\r\033[K" in terminal.getvalue()


@pytest.mark.parametrize("finished", [False, True])
def test_ctrl_c_says_what_is_kept(planted, tmp_path, capsys, monkeypatch, finished):
    """Before the fit nothing is there; after it the network is, and the way on is told."""

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "rcweb.cli.pipeline.annotate_model" if finished else "rcweb.estimator.RCweb.fit", interrupt
    )
    out = tmp_path / "out"
    sets = ("--sets", str(planted / "true_sets.gmt"))
    arguments = ["fit", str(planted / "data.tsv"), "-o", str(out), *FIT, *sets]
    assert run(arguments) == 130
    error = capsys.readouterr().err
    if finished:
        assert f"The network is in {out}; name its regulators with `rcweb annotate" in error
        assert (out / "report.html").is_file()
    else:
        assert "was not changed" in error
        assert not out.exists()
    assert {path.name for path in tmp_path.iterdir()} <= {"out"}


def test_a_defect_is_called_one(planted, tmp_path, capsys, monkeypatch):
    """An unexpected error is one line with what to do; the traceback only with --verbose."""

    def fail(*args, **kwargs):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("rcweb.estimator.RCweb.fit", fail)
    arguments = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "out"), *FIT]
    assert run(arguments) == 1
    error = capsys.readouterr().err
    assert "a bug in rcweb: ZeroDivisionError: oops" in error
    assert "Traceback" not in error
    assert run([*arguments, "--verbose"]) == 1
    assert "Traceback" in capsys.readouterr().err
