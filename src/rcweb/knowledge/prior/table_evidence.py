"""What a fitted table can say about any list, before lists are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rcweb.engine.types import Array
from rcweb.knowledge.prior.evidence import BlindRow, CoVariation, Evidence
from rcweb.knowledge.prior.random_lists import RANDOM_LIST_STREAM, RandomLists


@dataclass(frozen=True)
class BlindFit:
    """What is used of a fit without lists; N variables, P regulators, K directions.

    directions : (N, K) leading right singular vectors, one column per direction, white
    probability, score : (P, N) of its edges
    regulators : P ids
    exact : whether weights of non-targets are zero as far as noise can tell
    """

    directions: Array
    probability: Array
    score: Array
    regulators: Sequence[str]
    exact: bool


class TableEvidence:
    """Two kinds of evidence, and what random lists reach by each.

    Random lists are drawn once per structure and serve every list that is asked about later, which
    is most of the work. The answers do not depend on what was asked before.

    groups : (N,) number of the group of each variable; members of a group are no evidence for
        each other, and random lists have whole groups too
    """

    def __init__(self, fit: BlindFit, groups: NDArray[np.intp] | None = None) -> None:
        self.fit = fit
        rng = np.random.default_rng(RANDOM_LIST_STREAM)
        self.rows = BlindRow.of(fit.score, groups)
        self.evidence: dict[str, Evidence] = {
            "co-variation": CoVariation.of(fit.directions, groups, rng),
            "row": self.rows,
        }
        self.random = {name: RandomLists(kind, groups) for name, kind in self.evidence.items()}
