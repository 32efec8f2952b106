"""The open benchmark: plans, a resumable runner, tables and figures."""

from __future__ import annotations

from rcweb.benchmark.methods import METHODS
from rcweb.benchmark.plans import PLANS
from rcweb.benchmark.real import NoDataError
from rcweb.benchmark.runner import run
from rcweb.benchmark.store import read_rows
from rcweb.benchmark.summary import gap_closed, summarise, time_ratio

__all__ = [
    "METHODS",
    "PLANS",
    "NoDataError",
    "gap_closed",
    "read_rows",
    "run",
    "summarise",
    "time_ratio",
]
