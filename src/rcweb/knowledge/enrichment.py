"""Enriched terms (GO or any sets) of a regulator's targets, without redundant ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from rcweb.knowledge.genesets import GeneSets
from rcweb.knowledge.labels import as_network
from rcweb.knowledge.sets import overlap_test
from rcweb.network import Network


def enrich(
    network: Any,
    terms: GeneSets,
    *,
    universe: Sequence[str] | None = None,
    signs: str = "together",
    min_size: int = 5,
    max_size: int | None = 500,
    max_q: float = 0.05,
    max_similarity: float = 0.5,
    regulators: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Enriched terms of every regulator, the most significant first, redundant ones left out.

    network, universe, signs, min_size, max_size, regulators, targets : as in `overlap_test`
    terms : the sets, such as GO terms
    max_q : terms above this q are left out
    max_similarity : see below; 1 keeps every term

    The tests are those of `overlap_test`, corrected over all pairs before any term is left out. A
    term is redundant if the Jaccard similarity of its common targets with those of a more
    significant term of the same regulator exceeds `max_similarity`.

    Columns: those of `Overlaps.table`, then `leading` (the common targets, strongest edge first)
    and `similar` (number of redundant terms that this one stands for).

    Examples
    --------
    >>> import numpy as np
    >>> from rcweb.knowledge import GeneSets, enrich
    >>> genes = [f"g{n}" for n in range(100)]
    >>> network = np.zeros((1, 100))
    >>> network[0, :10] = 1
    >>> terms = {"iron": genes[:8], "metals": genes[:9], "motility": genes[40:60]}
    >>> enrich(network, GeneSets.from_dict(terms), targets=genes)[["regulator", "set", "similar"]]
      regulator     set  similar
    0    rcweb0  metals        1
    """
    net = as_network(network, regulators, targets)
    overlaps = overlap_test(
        net, terms, universe=universe, signs=signs, min_size=min_size, max_size=max_size
    )
    # Corrected over all pairs; removing redundant terms later must not change q.
    table = overlaps.table(max_q=max_q)
    members = dict(zip(overlaps.sets.names, map(set, overlaps.sets.members)))
    parts = [
        _without_redundant(
            part, _ranked_targets(net, str(regulator), str(sign)), members, max_similarity
        )
        for (regulator, sign), part in table.groupby(["regulator", "sign"], sort=False)
    ]
    if not parts:
        return table.assign(leading="", similar=0)
    return pd.concat(parts).sort_values("log10_p", kind="stable", ignore_index=True)


def _ranked_targets(net: Network, regulator: str, sign: str) -> list[str]:
    p = net.regulators.index(regulator)
    weights = net.weights[p]
    # The targets among which the overlap was counted.
    keep = {"+": weights > 0, "-": weights < 0, "+-": weights != 0}[sign]
    order = np.argsort(-np.abs(net.score[p]), kind="stable")
    return [net.targets[n] for n in order if keep[n]]


def _without_redundant(
    part: pd.DataFrame, ranked: list[str], members: dict[str, set[str]], limit: float
) -> pd.DataFrame:
    """Greedy, most significant first; `part` is sorted."""
    kept: list[int] = []
    common: list[list[str]] = []
    similar: list[int] = []
    for i, name in enumerate(part["set"]):
        hits = [t for t in ranked if t in members[name]]
        # Similarity of the common targets, not of whole terms: only those are evidence here.
        twin = next((j for j, c in enumerate(common) if _jaccard(hits, c) > limit), None)
        if twin is None:
            kept.append(i)
            common.append(hits)
            similar.append(0)
        else:
            similar[twin] += 1
    leading = [", ".join(hits) for hits in common]
    return part.iloc[kept].assign(leading=leading, similar=similar)


def _jaccard(a: list[str], b: list[str]) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))
