"""Lists that share members: told apart, or said to be seen only together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rcweb.engine.types import Mask
from rcweb.knowledge.prior.lists import LEAST_MEMBERS, TargetList

if TYPE_CHECKING:
    from rcweb.knowledge.prior.guide import Guide


def seen_with(
    judge: Guide, kind: str, lists: Sequence[TargetList], supported: Mask, fdr: float
) -> list[str]:
    """For each supported list, the names of those without which it is not seen, between commas.

    Asked where another supported list holds at least half of a list: the rest must then stand
    above random lists by itself. With fewer than `LEAST_MEMBERS` members left, it cannot.
    """
    names = [""] * len(lists)
    chosen = [k for k in range(len(lists)) if supported[k]]
    asked, rests = [], []
    for k in chosen:
        for other in chosen:
            rest = lists[k].without(lists[other].members)
            if other != k and 2 * len(rest) <= len(lists[k]):
                asked.append((k, other))
                rests.append(rest)
    enough = [i for i, rest in enumerate(rests) if len(rest) >= LEAST_MEMBERS]
    alone = np.zeros(len(rests), bool)
    alone[enough] = judge.support(kind, [rests[i] for i in enough]) <= fdr
    for (k, other), apart in zip(asked, alone):
        if not apart:
            names[k] = ", ".join(filter(None, [names[k], lists[other].name]))
    return names
