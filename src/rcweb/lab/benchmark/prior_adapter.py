"""The plan on known lists asks `RCweb.guide` here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.edges import keep_at_fdr
from rcweb.engine.types import Array, Ints
from rcweb.knowledge import GeneSets
from rcweb.lab.benchmark.methods import Estimate


def guided_scores(
    model: Any,
    X: pd.DataFrame,
    lists: Sequence[Ints],
    groups: Ints | None,
    signs: Sequence[Array] | None = None,
    known: dict[bytes, Any] | None = None,
) -> tuple[Array, Array, pd.DataFrame]:
    """Scores (L, N), probabilities (L, N) and the lines of ``prior_``, all in the order of `lists`.

    model : the fit of X without lists, which several splits share and which stays as it is
    lists : positions of the shown members;  signs : +1, -1 or 0 (unknown) of each, or None
    groups : (N,) or None
    known : what the table can say of lists, by `group_key`; kept there for other splits
    """
    told = _guide(model, X, lists, groups, signs, known)
    order = told.prior_.index.get_indexer(_names(lists))
    scores, probability = (
        np.asarray(values)[order] for values in (told.prior_score_, told.prior_probability_)
    )
    return scores, probability, told.prior_.iloc[order]


def guided_network(model: Any, X: pd.DataFrame, lists: Sequence[Ints]) -> Estimate:
    """The network of a planted table with `lists` known: a regulator in which a supported list
    stands out gets the probabilities of that list, of the surest if there are several; the others
    keep their edges."""
    told = _guide(model, X, lists, None, None)
    row_of = {name: p for p, name in enumerate(model.get_feature_names_out())}
    probability = np.array(model.edge_probability_)
    listed, named = np.zeros(probability.shape, bool), np.zeros(len(probability), bool)
    # The surest last, so that it stays.
    for k in np.argsort(-told.prior_["q"].to_numpy(), kind="stable"):
        row = row_of.get(told.prior_["regulator"].iloc[k])
        if row is not None and told.prior_["supported"].iloc[k]:
            probability[row], listed[row] = told.prior_probability_[k], told.prior_listed_[k]
            named[row] = True
    weights, edges = np.asarray(model.weights_), np.asarray(model.components_) != 0
    # Apart, or sure edges that were listed would make room for unsure ones that were not.
    for part in (listed & named[:, None], ~listed & named[:, None]):
        edges[part] = keep_at_fdr(probability[part], model.fdr)
    return Estimate(np.where(edges, weights, 0.0), weights, probability, probability)


def network_of(model: Any) -> Estimate:
    """Edges, weights, ranking and probabilities of a fit, for scores against the truth."""
    found = (model.components_, model.weights_, model.edge_score_, model.edge_probability_)
    return Estimate(*(np.asarray(values) for values in found))


def group_key(groups: Ints | None) -> bytes:
    """What a `table` is stored under."""
    return b"" if groups is None else groups.tobytes()


def _guide(
    model: Any,
    X: pd.DataFrame,
    lists: Sequence[Ints],
    groups: Ints | None,
    signs: Sequence[Array] | None,
    known: dict[bytes, Any] | None = None,
) -> Any:
    names, variables = _names(lists), np.asarray(X.columns, str)
    prior = GeneSets(
        tuple(names),
        ("",) * len(names),
        tuple(tuple(map(str, variables[listed])) for listed in lists),
        None if signs is None else tuple(tuple(map(float, sign)) for sign in signs),
    )
    # Attributes are set on the copy; the arrays of the fit are shared.
    told = copy(model)
    if known is None:
        return told.guide(prior, groups)
    key = group_key(groups)
    if key not in known:
        known[key] = told._table_evidence(groups)
    return told._guided_by(known[key], prior, groups is not None)


def _names(lists: Sequence[Ints]) -> list[str]:
    return [f"list {k}" for k in range(len(lists))]
