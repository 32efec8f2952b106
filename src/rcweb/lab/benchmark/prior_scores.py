"""Scores of an answer about known lists: what was hidden, what was random, what is probable."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcweb.engine.types import Array, Mask
from rcweb.lab.benchmark.foreign import calibration
from rcweb.lab.benchmark.prior_methods import Answer, Asked
from rcweb.lab.benchmark.prior_splits import ListSplit, judged


def score_answer(answer: Answer, asked: Asked) -> dict[str, Any]:
    """One row.

    average_precision, auroc : of hidden members against all variables that are not on the list,
        mean over lists; unknown targets count as wrong
    ..._measured : the same over lists whose regulator is a measured variable
    """
    split, N = asked.split, asked.problem.table.shape[1]
    lists, counts, hidden = judged(split, N)
    row: dict[str, Any] = {"n_lists": len(split.shown), "n_single": split.n_single}
    if len(lists):
        source = split.source[lists]
        measured = (source >= 0) & (asked.regulators[source] >= 0)
        row.update(_found_again(answer.scores[lists], counts, hidden, measured))
    if answer.lists is not None:
        row.update(_support(answer, split))
    if answer.probability is not None and len(lists):
        row["calibration"] = calibration(answer.probability[lists][counts], hidden[counts])[
            "calibration"
        ]
        if any(len(false) for false in split.false):
            row["calibration_shown"] = _shown(answer.probability, split)
    return row


def _found_again(scores: Array, counts: Mask, hidden: Mask, measured: Mask) -> dict[str, float]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    values = np.full((len(scores), 2), np.nan)
    for k, (score, count, target) in enumerate(zip(scores, counts, hidden)):
        # A method may have nothing to say about a list.
        if not np.isnan(score).any():
            told = target[count], score[count]
            values[k] = average_precision_score(*told), roc_auc_score(*told)
    answered = ~np.isnan(values[:, 0])
    row: dict[str, float] = {"n_answered": int(answered.sum())}
    for suffix, chosen in (("", answered), ("_measured", answered & measured)):
        if chosen.any():
            precision, area = values[chosen].mean(axis=0)
            row[f"average_precision{suffix}"] = round(float(precision), 5)
            row[f"auroc{suffix}"] = round(float(area), 5)
    return row


def _support(answer: Answer, split: ListSplit) -> dict[str, Any]:
    """How many lists are supported, true and random ones apart, and how reliable they seem."""
    assert answer.lists is not None
    supported = answer.lists["supported"].to_numpy(bool)
    random = split.random
    row: dict[str, Any] = {
        "n_true": int((~random).sum()),
        "n_supported": int(supported[~random].sum()),
        "n_random": int(random.sum()),
        "n_random_supported": int(supported[random].sum()),
    }
    row["random_share"] = round(row["n_random_supported"] / max(int(supported.sum()), 1), 5)
    reliability = answer.lists["reliability"].to_numpy(float)[~random]
    if np.isfinite(reliability).any():
        row["reliability"] = round(float(np.nanmean(reliability)), 5)
    return row


def _shown(probability: Array, split: ListSplit) -> dict[str, Any]:
    """Calibration over the shown members, where false ones are known."""
    p: list[Array] = []
    true: list[Mask] = []
    for row, members, false in zip(probability, split.shown, split.false):
        p.append(row[members])
        true.append(~np.isin(members, false))
    table: dict[str, Any] = calibration(np.concatenate(p), np.concatenate(true))["calibration"]
    return table
