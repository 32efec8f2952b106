"""The whole scoreboard fits into its hours; limits are CPU time, not time by the clock."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rcweb.lab.benchmark import scoreboard
from rcweb.lab.benchmark.budget import (
    BOARD,
    board_hours,
    board_lines,
    cost_lines,
    fit_seconds,
    method_costs,
)
from rcweb.lab.benchmark.methods import METHODS
from rcweb.lab.benchmark.plans import PLANS, TIMED, get_plan, tasks_of

# What the whole scoreboard may take on two cores.
MOST_HOURS = 3.0
RESULTS = Path(__file__).parents[3] / "benchmarks" / "results"


def row(**facts: Any) -> dict[str, Any]:
    """A stored row of one minute."""
    usual = {"method": "fastica", "seed": 0, "status": "ok", "label": "w", "cpu_seconds": 60.0}
    return {**usual, **facts}


def test_a_fit_counts_once_and_a_stopped_one_its_limit() -> None:
    """Two collections of a table share a fit; old rows have seconds by the clock alone."""
    real = {"table": "yeast", "asked": "known", "part": "whole"}
    rows = pd.DataFrame(
        [
            row(**real, sets="first", seconds=100.0),
            row(**real, sets="second", seconds=100.0),
            row(**real, sets="first", seed=1, cpu_seconds=None, seconds=7.0),
            row(**real, method="mofa", status="timeout", cpu_seconds=None, cpu_limit=150.0),
            row(**real, method="nmf", status="failed", cpu_seconds=None),
        ]
    )
    assert list(fit_seconds(rows)) == [60.0, 7.0, 150.0, 0.0]
    # Known lists: the same table and method under several conditions are several fits.
    assert len(fit_seconds(rows.drop(columns="part"))) == 5


def test_costs_of_each_method() -> None:
    """A stopped fit counts in the minutes, not in the median."""
    stored = pd.DataFrame(
        [
            row(asked="auto", cpu_seconds=3.0),
            row(asked="known", method="mofa", cpu_seconds=2.0),
            row(asked="known", method="mofa", seed=1, cpu_seconds=None, cpu_limit=118.0)
            | {"status": "timeout"},
        ]
    )
    lines = method_costs(lambda plan: stored, ("foreign",)).to_dict("records")
    assert [line["method"] for line in lines] == ["fastica, P unknown", "mofa"]
    assert [lines[1][name] for name in ("seeds", "fits", "not done", "minutes")] == [2, 2, 1, "2.0"]
    assert lines[1]["median CPU s"] == lines[1]["greatest"] == "2"


def test_hours_on_two_cores() -> None:
    """Planted cells and lists two at a time, then real tables beside foreign worlds."""
    minutes = {"fig1": 60, "fig3": 30, "prior": 30, "foreign": 50, "organisms": 90}
    stored = {
        plan: pd.DataFrame([row(cpu_seconds=60.0), row(cpu_seconds=60.0 * (n - 1))])
        for plan, n in minutes.items()
    }

    def read(plan: str) -> pd.DataFrame:
        return stored.get(plan, pd.DataFrame())

    assert board_hours(read) == pytest.approx((60 + 30 + 30) / 120 + 90 / 60)
    table = board_lines(read).set_index("columns")
    assert list(table["minutes"]) == ["90.0", "30.0", "50.0", "90.0", "260.0"]
    assert list(table["on two cores"]) == ["45.0", "15.0", "50.0", "90.0", "150.0"]
    costs = cost_lines(read, ("fig1", "fig2a", "foreign")).set_index("plan")
    assert list(costs.index) == ["fig1", "foreign", "all"]
    assert list(costs["with two jobs"]) == ["30.0", "50.0", "80.0"]


@pytest.mark.skipif(not RESULTS.exists(), reason="not a clone of the repository")
def test_stored_rows_took_less_than_the_hours_allowed() -> None:
    """From the rows' own clocks; every plan of the board was run."""
    read = scoreboard.reader(RESULTS)
    assert all(len(read(plan)) for plans in BOARD.values() for plan in plans)
    assert board_hours(read) < MOST_HOURS


def test_every_column_has_its_plans() -> None:
    """A new question must be measured by one of the commands."""
    plans = {plan for group in BOARD.values() for plan in group}
    assert plans <= set(PLANS)
    asked = {question.rows.split("/")[0] for question in scoreboard.questions()} - {""}
    assert asked <= plans


def test_one_command_runs_the_plans_of_a_column(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Two fits at a time only where seconds are no result."""
    ran: list[tuple[str, Path, int]] = []
    monkeypatch.setattr(
        scoreboard, "run", lambda plan, *, out, n_jobs: ran.append((plan, out, n_jobs))
    )
    page = tmp_path / "page.md"
    arguments = ["--page", str(page), "--results", str(tmp_path), "--jobs", "2", "--run"]
    scoreboard.main([*arguments, "real"])
    assert ran == [("organisms", tmp_path / "organisms", 1)]
    assert page.exists()
    ran.clear()
    scoreboard.main([*arguments, "all"])
    assert [plan for plan, _, _ in ran] == [plan for plans in BOARD.values() for plan in plans]
    assert all(jobs == (1 if plan in TIMED else 2) for plan, _, jobs in ran)


def test_fits_without_a_result_are_told() -> None:
    """Method, limit and tables, whichever column they would have filled."""
    stored = pd.DataFrame(
        [
            row(method="mofa", status="timeout", error="not done after 9 s of CPU", label="big"),
            row(method="mofa", status="timeout", error="not done after 9 s of CPU", label="wide"),
            row(),
        ]
    )
    table = scoreboard.not_done(lambda plan: stored if plan == "organisms" else pd.DataFrame())
    assert table.to_dict("records") == [
        {
            "method": "mofa",
            "plan": "organisms",
            "fits": 2,
            "why": "not done after 9 s of CPU",
            "where": "big, wide",
        }
    ]


@pytest.mark.parametrize("plan", ["organisms", "foreign"])
def test_the_strongest_rivals_are_in_the_plans(plan: str) -> None:
    """Empirical Bayes, spike and slab, optICA, MOFA, vsp, and NMF for amounts."""
    ran = {task.method for task in tasks_of(get_plan(plan))}
    assert {"fastica", "vsp", "ebmf", "ebmf-ash", "ssl-pxl", "optica", "mofa", "nmf"} <= ran
    assert all(METHODS[name].role != "reference" for name in ran)


@pytest.mark.skipif(sys.platform == "win32", reason="no timer of CPU time")
@pytest.mark.parametrize("waits", [True, False])
def test_the_limit_is_cpu_time(waits: bool) -> None:
    """Waiting for a busy machine costs a fit nothing; computing ends it."""
    fit = "time.sleep(0.6)" if waits else "while True: pass"
    code = f"import time; from rcweb.lab.benchmark.worker import _limit; _limit(0.3)\n{fit}"
    # The end of the process takes CPU time of its own.
    done = subprocess.run([sys.executable, "-c", f"{code}\n_limit(0.0)"], check=False)
    assert done.returncode == (0 if waits else -signal.SIGPROF)
