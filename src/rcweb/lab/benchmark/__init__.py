"""The open benchmark: plans, a resumable runner, tables and figures."""

from __future__ import annotations

from rcweb.lab.benchmark.methods import METHODS
from rcweb.lab.benchmark.plans import PLANS
from rcweb.lab.benchmark.runner import run
from rcweb.lab.benchmark.store import read_rows
from rcweb.lab.benchmark.summary import gap_closed, summarise, time_ratio

__all__ = [
    "METHODS",
    "PLANS",
    "gap_closed",
    "read_rows",
    "run",
    "summarise",
    "time_ratio",
]
