"""The methods of the plan on known lists: ours and the rivals of `rcweb.lab.baselines.guided`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.types import Array, Ints
from rcweb.lab.baselines import guided
from rcweb.lab.baselines.base import MethodRecord
from rcweb.lab.benchmark import prior_adapter
from rcweb.lab.benchmark.prior_lists import KnownLists
from rcweb.lab.benchmark.prior_splits import ListSplit, make_split

OURS_GUIDED, BLIND_ROW = "guided", "blind-row"
GUIDED = MethodRecord(
    name=OURS_GUIDED,
    title="`RCweb(prior=...)`",
    paper="this package",
    settings="none",
    look=("#D55E00", "o"),
    told="lists, P; operons where whole ones are hidden",
    role="ours",
)


@dataclass(frozen=True)
class Answer:
    """scores (L, N); of ours also probabilities (L, N) and one line per list.

    alone : no work for another split or condition was used, so that the time is that of one call
    """

    scores: Array
    probability: Array | None = None
    lists: pd.DataFrame | None = None
    alone: bool = True


class ListProblem:
    """A table of named variables and P; what several splits share is computed once."""

    def __init__(self, table: pd.DataFrame, n_components: int) -> None:
        self.table = table
        self.n_components = n_components
        self.known: dict[bytes, Any] = {}
        self._importance: dict[bytes, Array] = {}

    @cached_property
    def centred(self) -> Array:
        """(M, N), each variable minus its mean."""
        X = self.table.to_numpy(np.float64)
        return np.asarray(X - X.mean(axis=0))

    @property
    def blind(self) -> Any:
        """The fit without lists."""
        return self._fitted[0]

    @property
    def blind_seconds(self) -> float:
        """Seconds of CPU it took."""
        return self._fitted[1]

    @cached_property
    def _fitted(self) -> tuple[Any, float]:
        from rcweb.estimator import RCweb

        start = time.process_time()
        model = RCweb(self.n_components, random_state=0).fit(self.table)
        return model, time.process_time() - start

    def importance(self, regulators: Ints) -> Array:
        """(L, N) scores of the forest, which shows no list to it: grown once for all splits."""
        from rcweb.lab.baselines.guided import forest

        key = regulators.tobytes()
        if key not in self._importance:
            named = [np.array([max(column, 0)]) for column in regulators]
            told = {"n_components": self.n_components, "random_state": 0}
            self._importance[key] = forest.score(self.centred, named, regulators=regulators, **told)
        return self._importance[key]


@dataclass(frozen=True)
class Asked:
    """What a method is asked: a problem, its lists as shown, and what goes with them.

    regulators : (L,) column of the regulator of each known list, -1 if not measured
    groups : (N,) where whole groups are hidden, else None
    """

    problem: ListProblem
    split: ListSplit
    regulators: Ints
    groups: Ints | None = None


@dataclass(frozen=True)
class ListMethod:
    """What the benchmark knows of a method, and how it answers."""

    record: MethodRecord
    run: Callable[[Asked, int], Answer]

    @property
    def starts_blind(self) -> bool:
        """It needs the fit without lists."""
        return self.record.name in (OURS_GUIDED, BLIND_ROW)


def _guided(asked: Asked, seed: int) -> Answer:
    problem, split, kept = asked.problem, asked.split, asked.problem.known
    alone = prior_adapter.group_key(asked.groups) not in kept
    told = problem.blind, problem.table, split.shown, asked.groups, split.signs
    return Answer(*prior_adapter.guided_scores(*told, known=kept), alone=alone)


def _rival(module: ModuleType, asked: Asked, seed: int) -> Answer:
    problem, split = asked.problem, asked.split
    if module.METHOD.name == "forest":
        known = problem.importance(asked.regulators)
        # A random list (source -1) has no regulator.
        none = np.full((1, known.shape[1]), np.nan)
        return Answer(np.vstack([known, none])[split.source])
    extra = {"blind": problem.blind.edge_score_} if module.METHOD.name == BLIND_ROW else {}
    told = {"n_components": problem.n_components, "random_state": seed, **extra}
    return Answer(module.score(problem.centred, split.shown, **told))


def _rivals() -> Iterator[ListMethod]:
    # By discovery: adding a rival means adding one file.
    for info in iter_modules(guided.__path__):
        module = import_module(f"{guided.__name__}.{info.name}")
        if hasattr(module, "METHOD"):
            yield ListMethod(module.METHOD, partial(_rival, module))


LIST_METHODS = {method.record.name: method for method in (ListMethod(GUIDED, _guided), *_rivals())}


def get_list_method(name: str) -> ListMethod:
    """The method of that name, or an error that lists them."""
    try:
        return LIST_METHODS[name]
    except KeyError:
        known = ", ".join(LIST_METHODS)
        raise ValueError(f"method must be one of {known}; not {name!r}.") from None


def warm_up_lists(method: str) -> None:
    """A tiny problem, so that imports and compilation happen outside the clock."""
    from rcweb.lab.simulate import simulate

    sim = simulate(40, 60, 4, density=0.4, noise=0.1, random_state=0)
    names = [f"v{n}" for n in range(60)]
    problem = ListProblem(pd.DataFrame(sim.data, columns=pd.Index(names)), 4)
    known = KnownLists(tuple("abcd"), tuple(np.flatnonzero(row) for row in sim.edges))
    split = make_split(known, 60, "clean", 0)
    get_list_method(method).run(Asked(problem, split, np.arange(4)), 0)
