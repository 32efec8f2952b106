"""The plan on known lists: half of every list is hidden; who finds it again?

Each row is one method, one table with its lists, one way to hide, one condition and one split (the
seed). Real tables need RCWEB_DATA (docs/benchmark.md); planted ones are in `prior_planted`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.types import Ints
from rcweb.lab.benchmark.organisms import REAL_TABLES
from rcweb.lab.benchmark.prior_lists import (
    NO_GROUPS,
    OTHER_SETS,
    SIGNED_SETS,
    KnownLists,
    operons,
    own_columns,
    read_known,
)
from rcweb.lab.benchmark.prior_methods import Asked, ListProblem, get_list_method
from rcweb.lab.benchmark.prior_scores import score_answer
from rcweb.lab.benchmark.prior_splits import make_split
from rcweb.lab.datasets.files import required_data_folder

# Conditions in which methods are compared, and those that ask ours alone.
ALL_ASKED = ("clean", "false 30 %", "false 60 %")
OURS_ALONE = ("random", "mixed", "permuted", "other organism", "signs", "shuffled signs")


@dataclass(frozen=True)
class PriorCell:
    """A table and its known lists (paths below RCWEB_DATA), what is hidden, and the condition.

    split : "gene": a random half of every list; "group": whole operons, about half of the members
    condition : one of `rcweb.lab.benchmark.prior_splits.CONDITIONS`
    """

    figure: str
    panel: str
    table: str
    sets: str
    n_regulators: int
    split: str = "gene"
    condition: str = "clean"

    @property
    def label(self) -> str:
        """A name to read, unique within a plan."""
        return f"{self.panel}, {self.split}, {self.condition}"

    @property
    def key(self) -> str:
        """A name that changes with every argument."""
        return f"{self.figure} {self.label} {self.table} {self.sets} P={self.n_regulators}"


def prior_cells(conditions: tuple[str, ...] = ALL_ASKED) -> tuple[PriorCell, ...]:
    """Every table, its ways to hide and the conditions that apply to it."""
    return tuple(
        PriorCell("prior", *table, split, condition)
        for table in REAL_TABLES
        for split in ("gene", "group")
        for condition in conditions
        if applies(table[1], split, condition)
    )


def applies(table: str, split: str, condition: str) -> bool:
    """Whether the table has groups, signs or shared names, as the cell needs them.

    Permuted genes and another organism's lists are not made of operons of the table.
    """
    if split == "group" and (table in NO_GROUPS or condition in ("permuted", "other organism")):
        return False
    if condition == "other organism":
        return table in OTHER_SETS
    return "signs" not in condition or table in SIGNED_SETS


def measure_prior(cell: PriorCell, method: str, seed: int) -> dict[str, Any]:
    """Scores of one method on split number `seed`."""
    problem = _problem(cell.table, cell.n_regulators)
    known = _known(cell.table, cell.sets, cell.condition)
    groups = _groups(cell.table) if cell.split == "group" else None
    split = make_split(known, problem.table.shape[1], cell.condition, seed, groups)
    asked = Asked(problem, split, _regulators(cell.table, cell.sets, cell.condition), groups)
    return ask(asked, method, seed)


def ask(asked: Asked, method: str, seed: int) -> dict[str, Any]:
    """The row of one method: scores, seconds, and of methods that start from the fit without
    lists their time over its own, where it is that of one call (random lists are drawn once for
    all splits of a table)."""
    chosen = get_list_method(method)
    # Before the clock: it is shared by all splits.
    blind = asked.problem.blind_seconds if chosen.starts_blind else None
    start, start_cpu = time.perf_counter(), time.process_time()
    answer = chosen.run(asked, seed)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    row: dict[str, Any] = {"seconds": round(seconds, 4), "cpu_seconds": round(cpu, 4)}
    if blind is not None and answer.alone:
        row["blind_ratio"] = round(cpu / max(blind, 1e-9), 4)
    return {**row, **score_answer(answer, asked)}


# One process may be given the cells of all tables in turn.
@lru_cache(maxsize=8)
def _problem(table: str, n_components: int) -> ListProblem:
    X = pd.read_parquet(required_data_folder() / table)
    return ListProblem(X.set_axis([str(name) for name in X.columns], axis=1), n_components)


@lru_cache(maxsize=8)
def _names(table: str) -> tuple[str, ...]:
    return tuple(str(name) for name in pd.read_parquet(required_data_folder() / table).columns)


@lru_cache(maxsize=32)
def _known(table: str, sets: str, condition: str) -> KnownLists:
    return read_known(table, sets, _names(table), condition)


@lru_cache(maxsize=32)
def _regulators(table: str, sets: str, condition: str) -> Ints:
    return own_columns(table, _known(table, sets, condition).names, _names(table))


@lru_cache(maxsize=8)
def _groups(table: str) -> Ints:
    found = operons(table, _names(table))
    if found is None:
        raise ValueError(f"{table} has no groups: {NO_GROUPS.get(table, 'none are known')}.")
    return np.asarray(found)
