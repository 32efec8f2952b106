"""Several sources for one regulator: how far each is trusted, and one list from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rcweb.knowledge.prior.lists import PriorLists, TargetList


def merge_sources(lists: PriorLists, reliability: Sequence[float]) -> list[TargetList]:
    """One list per regulator.

    A member's confidence is the probability that at least one of the sources that list it is right,
    each right with its own reliability; its sign is that of the weighted vote. What only a source
    lists that the table contradicts has little weight.

    reliability : share of each list, judged alone, that is seen
    """
    merged = []
    for name in lists.names:
        parts = [(one, r) for one, r in zip(lists.lists, reliability) if one.name == name]
        merged.append(parts[0][0] if len(parts) == 1 else _joined(parts))
    return merged


def source_records(lists: PriorLists, reliability: Sequence[float]) -> list[dict[str, Any]]:
    """One record per list and source, and one per source; nothing with a single source."""
    sources = list(dict.fromkeys(one.source for one in lists.lists))
    if len(sources) < 2:
        return []
    records = [
        {"source": one.source, "list": one.name, "members": len(one), "reliability": float(r)}
        for one, r in zip(lists.lists, reliability)
    ]
    for source in sources:
        own = [record for record in records if record["source"] == source]
        size = np.array([record["members"] for record in own])
        mean = float(size @ [record["reliability"] for record in own] / size.sum())
        all_lists = {"source": source, "list": "all", "members": int(size.sum())}
        records.append(all_lists | {"reliability": mean})
    return records


def _joined(parts: Sequence[tuple[TargetList, float]]) -> TargetList:
    members = np.unique(np.concatenate([one.members for one, _ in parts]))
    wrong, vote = np.ones(len(members)), np.zeros(len(members))
    for one, reliability in parts:
        at = np.searchsorted(members, one.members)
        right = reliability * one.confidence
        wrong[at] *= 1 - right
        vote[at] += right * one.sign
    confidence = 1 - wrong
    first = parts[0][0]
    source = ", ".join(one.source for one, _ in parts)
    # Relative to the surest member: how far the list as a whole is right is learned again.
    return TargetList(first.name, source, members, np.sign(vote), confidence / confidence.max())
