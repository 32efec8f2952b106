"""The tables of known and new targets of a guided model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.knowledge.prior import new_targets

if TYPE_CHECKING:
    from rcweb.engine.types import Array, Ints

NEAREST = 3  # listed members named beside a new target
NAMED = 5  # other lists named beside it


def new_target_table(model: Any) -> pd.DataFrame:
    """See ``RCweb.new_targets``."""
    table = prior_target_table(model)
    return table[table["new"]].drop(columns=["listed", "new"]).reset_index(drop=True)


def prior_target_table(model: Any) -> pd.DataFrame:
    """One row per list and variable that is listed or new; surest first within a list.

    Columns: regulator, target, listed, new, probability, weight, agreement, nearest, listed_by.
    """
    names = np.array(model._target_names(), dtype=object)
    unit, lists = _unit(model.directions_), np.array(model.prior_.index, dtype=object)
    supported = model.prior_["supported"].to_numpy()
    parts = []
    for k, record in enumerate(model.prior_.reset_index().to_dict("records")):
        listed, p = model.prior_listed_[k], model.prior_probability_[k]
        new = new_targets(p, np.flatnonzero(listed), model.fdr)
        rows = np.flatnonzero(listed | new)
        rows = rows[np.lexsort((-model.prior_score_[k, rows], -p[rows]))]
        seen = np.flatnonzero(listed & (p > 0.5))
        parts.append(
            pd.DataFrame(
                {
                    "regulator": record["list"],
                    "target": names[rows],
                    "listed": listed[rows],
                    "new": new[rows],
                    "probability": p[rows],
                    "weight": model.prior_weights_[k, rows],
                    "agreement": model.prior_score_[k, rows],
                    "nearest": _nearest(unit, rows, seen, names),
                    "listed_by": [
                        ", ".join(lists[_others(model, k, int(row)) & supported][:NAMED])
                        for row in rows
                    ],
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def prior_activity_table(model: Any, X: pd.DataFrame, batch: Any = None) -> pd.DataFrame:
    """Samples x activities of the lists, followed by their standard deviations, "<list> std"."""
    activities, std = model.prior_activities(X, return_std=True, batch=batch)
    lists = list(model.prior_.index)
    frame = pd.DataFrame(activities, index=X.index, columns=lists)
    errors = pd.DataFrame(std, index=X.index, columns=[f"{name} std" for name in lists])
    return pd.concat([frame, errors], axis="columns").rename_axis("sample")


def _others(model: Any, k: int, variable: int) -> Any:
    """(L,) which lists other than number k hold the variable."""
    holds = model.prior_listed_[:, variable].copy()
    holds[k] = False
    return holds


def _nearest(unit: Array, rows: Ints, seen: Ints, names: Any) -> list[str]:
    """The listed members with the most similar profiles, between commas."""
    cosine = np.abs(unit[rows] @ unit[seen].T)
    cosine[rows[:, None] == seen] = -1.0  # not itself
    best = np.argsort(-cosine, axis=1, kind="stable")[:, :NEAREST]
    return [
        ", ".join(str(names[seen[j]]) for j in row if cosine[i, j] >= 0)
        for i, row in enumerate(best)
    ]


def _unit(directions: Array) -> Array:
    length = np.linalg.norm(directions, axis=1, keepdims=True)
    return np.asarray(directions / np.maximum(length, np.finfo(float).tiny))
