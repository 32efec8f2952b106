"""Known targets and a fitted table: which lists it supports, and who else belongs to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rcweb.engine.edges import keep_at_fdr
from rcweb.engine.types import Array, Mask
from rcweb.knowledge.hypergeometric import benjamini_hochberg
from rcweb.knowledge.prior.lists import PriorLists, TargetList
from rcweb.knowledge.prior.mixture import Targets, learn_targets, member_log_odds, target_log_odds
from rcweb.knowledge.prior.overlap import seen_with
from rcweb.knowledge.prior.random_lists import DRAWS_IN_ALL, LEAST_DRAWS, tail_probability
from rcweb.knowledge.prior.rows import row_log_odds
from rcweb.knowledge.prior.sources import merge_sources, source_records
from rcweb.knowledge.prior.table_evidence import TableEvidence


@dataclass(frozen=True)
class Guidance:
    """What the lists are in this table; L lists.

    lists : one per regulator, sources joined
    table : one record per list, the columns of ``RCweb.prior_``
    sources : one record per list and source; empty with a single source
    probability : (L, N) of being a target that shows in this table; 0 for a list without support
    score : (L, N) agreement of every variable with the list, members without themselves: standard
        normal for random lists (co-variation), or log-odds (row)
    """

    lists: tuple[TargetList, ...]
    table: list[dict[str, Any]]
    sources: list[dict[str, Any]]
    probability: Array
    score: Array


@dataclass(frozen=True)
class _Judged:
    """One list: log-odds and score of every variable, and what the list is worth."""

    odds: Array
    score: Array
    targets: Targets


class Guide:
    """Judges lists by what a table can say; agreement with each is computed once."""

    def __init__(self, table: TableEvidence) -> None:
        self.table = table
        self._agreement: dict[tuple[str, bytes, bytes], Array] = {}

    def agreement(self, kind: str, one: TargetList) -> Array:
        """Agreement (N,) of every variable with the list, standard normal for random lists."""
        key = kind, one.members.tobytes(), one.confidence.tobytes()
        if key not in self._agreement:
            t = self.table.evidence[kind].agreement(one)
            self._agreement[key] = self.table.random[kind].normal(len(one), t)
        return self._agreement[key]

    def choose(self, lists: Sequence[TargetList]) -> str:
        """The kind of evidence that finds the lists' own members again, each left out: mean average
        precision over the lists. Where zeros are not exact a list is rarely one row, and what its
        own members say is too close to call."""
        if not self.table.fit.exact:
            return "co-variation"
        means = {
            kind: float(np.mean([_own_precision(one, self.agreement(kind, one)) for one in lists]))
            for kind in self.table.evidence
        }
        return max(means, key=lambda kind: means[kind])

    def judge(self, kind: str, one: TargetList, expected: tuple[float, float]) -> _Judged:
        """Every variable beside one list. `expected` : reliability, and members it counts as."""
        if kind == "row":
            odds, targets = row_log_odds(self.table.fit.probability, self.table.rows, one, expected)
            return _Judged(odds, odds, targets)
        a = self.agreement(kind, one)
        targets = learn_targets(a, one.members, one.confidence, expected)
        odds = target_log_odds(a, one.members, one.confidence, targets)
        odds[one.members], seen = member_log_odds(a, one.members, one.confidence, expected)
        return _Judged(odds, a, replace(targets, reliability=seen))

    def support(self, kind: str, lists: Sequence[TargetList]) -> Array:
        """Probability, (L,), that a random list stands as high as each."""
        if not lists:
            return np.empty(0)
        draws = max(LEAST_DRAWS, DRAWS_IN_ALL // len(lists))
        means = [float(self.agreement(kind, one)[one.members].mean()) for one in lists]
        standing = [self.table.random[kind].standing(*told, draws) for told in zip(lists, means)]
        own, random = zip(*standing)
        return tail_probability(np.array(own), np.concatenate(random))


def guide(table: TableEvidence, lists: PriorLists, fdr: float = 0.05) -> Guidance:
    """Which lists the table supports, and the probability of every variable to be a target.

    fdr : expected share of false ones among lists called supported, and among new targets
    """
    judge = Guide(table)
    kind = judge.choose(lists.lists)
    alone = [judge.judge(kind, one, (0.5, 1.0)).targets.reliability for one in lists.lists]
    merged = merge_sources(lists, alone)
    p = judge.support(kind, merged)
    q = benjamini_hochberg(p)
    supported = q <= fdr
    regulators = _regulators(judge, merged, supported, fdr)
    together = seen_with(judge, kind, merged, supported, fdr)
    usual = float(np.mean(alone))
    probability, score, records = [], [], []
    for k, one in enumerate(merged):
        judged = judge.judge(kind, one, (usual, 1.0))
        record = {"supported": bool(supported[k]), "p": float(p[k]), "q": float(q[k])}
        chances = expit(judged.odds) if supported[k] else np.zeros(len(judged.odds))
        records.append(
            {"list": one.name, **record}
            | _counts(one, judged.targets, chances, fdr, bool(supported[k]))
            | {"regulator": regulators[k], "together": together[k], "evidence": kind}
        )
        probability.append(chances)
        score.append(judged.score)
    sources = source_records(lists, alone)
    return Guidance(tuple(merged), records, sources, np.array(probability), np.array(score))


def new_targets(probability: Array, members: NDArray[np.int64], fdr: float) -> Mask:
    """Unlisted variables (N,) that are targets, `fdr` of them falsely."""
    unlisted = np.ones(probability.shape, bool)
    unlisted[members] = False
    chosen = np.zeros(probability.shape, bool)
    chosen[unlisted] = keep_at_fdr(probability[unlisted][None], fdr)[0]
    return chosen


def _counts(
    one: TargetList, targets: Targets, probability: Array, fdr: float, supported: bool
) -> dict[str, Any]:
    """Of a list without support nothing is seen."""
    kept = int((probability[one.members] > 0.5).sum())
    return {
        "reliability": targets.reliability if supported else 0.0,
        "strength": targets.strength if supported else 0.0,
        "members": len(one),
        "kept": kept,
        "unseen": len(one) - kept,
        "new": int(new_targets(probability, one.members, fdr).sum()),
    }


def _own_precision(one: TargetList, score: Array) -> float:
    """Average precision with which the members come first."""
    listed = np.zeros(len(score), bool)
    listed[one.members] = True
    hits = listed[np.argsort(-score, kind="stable")]
    found = np.cumsum(hits)
    return float((found[hits] / (np.flatnonzero(hits) + 1)).mean())


def _regulators(
    judge: Guide, lists: Sequence[TargetList], supported: Mask, fdr: float
) -> list[str]:
    """Id of the blind regulator in which each supported list stands out, or "none"."""
    chosen = [k for k in range(len(lists)) if supported[k]]
    significant = benjamini_hochberg(judge.support("row", [lists[k] for k in chosen])) <= fdr
    names = ["none"] * len(lists)
    for k, clear in zip(chosen, significant):
        if clear:
            row, _ = judge.table.rows.choice(lists[k].members[None], lists[k].confidence)
            names[k] = str(judge.table.fit.regulators[row[0]])
    return names
