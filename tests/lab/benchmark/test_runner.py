"""Runs resume, survive failures and time-outs, and leave rows that say so."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import rcweb.lab.benchmark.plans as plans
from rcweb.lab.benchmark import read_rows, run
from rcweb.lab.benchmark.__main__ import main
from rcweb.lab.benchmark.plans import Block, Task
from rcweb.lab.benchmark.progress import Progress, clock
from rcweb.lab.benchmark.scenarios import Cell
from rcweb.lab.benchmark.store import Store, environment, read_lines
from rcweb.lab.benchmark.worker import Worker, answer
from rcweb.lab.datasets import DatasetError

TINY = Cell("tiny", "A", 40, 30, 3, density=0.3)


@pytest.fixture
def tiny_plan(monkeypatch: pytest.MonkeyPatch) -> str:
    block = Block((TINY,), ("oracle", "fastica", "varimax"), (0, 1))
    monkeypatch.setitem(plans.PLANS, "tiny", lambda: (block,))
    return "tiny"


def test_run_resume_and_outputs(tiny_plan: str, tmp_path: Path) -> None:
    """A finished plan does no work; a new method adds only its own rows."""
    folder = run(tiny_plan, out=tmp_path / "r", n_jobs=2)
    rows = read_rows(folder / "rows.jsonl")
    assert len(rows) == 6
    assert set(rows["status"]) == {"ok"}
    assert rows.loc[rows["method"] == "oracle", "rho"].min() > 0.95
    assert (rows["seconds"] > 0).all()
    lines = read_lines(folder / "rows.jsonl")
    assert [line["describes"] for line in lines if "describes" in line] == [TINY.key]
    assert set(rows["n_features"]) == {30}
    before = (folder / "rows.jsonl").read_bytes()
    run(tiny_plan, out=folder)
    assert (folder / "rows.jsonl").read_bytes() == before
    run(tiny_plan, out=folder, methods=["ksvd"])
    assert len(read_rows(folder / "rows.jsonl")) == 8
    page = (folder / "summary.md").read_text()
    assert "tiny A N=30 M=40 P=3" in page
    assert (folder / "summary.csv").exists()
    assert (folder / "who_wins.png").stat().st_size > 5000


def test_rows_point_to_their_environment(tiny_plan: str, tmp_path: Path) -> None:
    """Every number says on which machine, with which versions and commit it was measured."""
    folder = run(tiny_plan, out=tmp_path, methods=["varimax"], seeds=1)
    lines = read_lines(folder / "rows.jsonl")
    described = {line["environment"] for line in lines if "numpy" in line}
    measured = [line for line in lines if "cell" in line]
    assert {line["environment"] for line in measured} == described
    assert {"rcweb", "commit", "processor", "cpus", "scikit-learn"} <= set(environment())


def test_timeout_is_a_row_and_the_next_fit_runs() -> None:
    """A method that takes too long is killed; the worker starts afresh."""
    worker = Worker(threads=1)
    try:
        long = Cell("long", "A", 2000, 2000, 200, density=0.3)
        row = worker.run(Task(TINY, "varimax", 0, 1, 3600.0))
        assert row["status"] == "ok"
        row = worker.run(Task(long, "varimax", 0, 1, 0.05))
        assert row == {
            "status": "timeout",
            "error": "not done after 0.05 s of CPU",
            "cpu_limit": 0.05,
        }
        assert worker.run(Task(TINY, "varimax", 0, 1, 3600.0))["status"] == "ok"
    finally:
        worker.close()


def test_failure_is_a_row() -> None:
    """An exception becomes its type and text, not the end of the run."""
    from dataclasses import asdict

    message = {"kind": "Cell", "cell": asdict(TINY), "method": "nonsense", "seed": 0}
    row = answer(message)
    assert row["status"] == "failed"
    assert "nonsense" in row["error"]


def test_retry_measures_failures_again(tmp_path: Path) -> None:
    """Failed rows count as finished unless a retry is asked for."""
    store = Store(tmp_path / "rows.jsonl")
    for status in ("ok", "failed"):
        store.append({"cell": "c", "method": status, "seed": 0, "threads": 1, "status": status})
    assert len(store.finished()) == 2
    assert store.finished(retry=True) == {("c", "ok", 0, 1)}


@pytest.mark.parametrize("name", ["summary.md", "rows.jsonl"])
def test_a_folder_of_other_files_is_refused(tmp_path: Path, name: str) -> None:
    """A user's own summary.md must not be replaced, nor rows appended to what holds none."""
    (tmp_path / name).write_text("years of work")
    for out in (tmp_path, tmp_path / name):
        with pytest.raises(ValueError, match="holds no rows of earlier measurements"):
            run("fig1", quick=True, out=out)
    assert (tmp_path / name).read_text() == "years of work"
    assert len(list(tmp_path.iterdir())) == 1


def test_half_a_line_is_dropped(tmp_path: Path) -> None:
    """A run killed while writing loses that row only, and the next row is readable."""
    path = tmp_path / "rows.jsonl"
    store = Store(path)
    whole = {"cell": "c", "method": "m", "seed": 0, "threads": 1, "status": "ok"}
    store.append(whole)
    with path.open("a") as file:
        file.write('{"cell": "c", "met')
    again = Store(path)
    assert again.rows == [whole]
    again.append({**whole, "seed": 1})
    assert [json.dumps(row) for row in read_lines(path)] == [
        json.dumps(whole),
        json.dumps({**whole, "seed": 1}),
    ]


def test_progress_in_plain_lines() -> None:
    """Without a terminal: no control characters, the last line says everything is done."""
    stream = io.StringIO()
    progress = Progress(["a", "a", "b"], stream=stream)
    progress.done("a", 2.0, "first")
    assert progress.time_left() == pytest.approx(4.0)
    progress.done("a", 4.0, "second")
    assert progress.time_left() == pytest.approx(3.0)
    progress.done("b", 1.0, "third")
    assert stream.getvalue() == "3/3  0:00 left  third\n"
    assert clock(3723) == "1:02:03"


def test_real_plan_without_data_says_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Missing tables skip the plan with the variable to set, and a code of their own."""
    monkeypatch.delenv("RCWEB_DATA", raising=False)
    with pytest.raises(DatasetError, match="RCWEB_DATA"):
        run("organisms", out=tmp_path)
    assert main(["organisms", "--out", str(tmp_path)]) == 2
    assert "RCWEB_DATA" in capsys.readouterr().err
