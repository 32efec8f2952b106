"""The plan on known lists asks `RCweb(prior=...)` here and nowhere else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from rcweb.engine.types import Array, Ints
from rcweb.knowledge import GeneSets
from rcweb.lab.benchmark.methods import Estimate


def guided_scores(
    model: Any,
    X: pd.DataFrame,
    lists: Sequence[Ints],
    groups: Ints | None,
    signs: Sequence[Array] | None = None,
) -> tuple[Array, Array, pd.DataFrame]:
    """Scores (L, N), probabilities (L, N) and the lines of ``prior_``, all in the order of `lists`.

    model : the fit of X without lists, which several splits share
    lists : positions of the shown members;  signs : +1, -1 or 0 (unknown) of each, or None
    groups : (N,) or None
    """
    fitted = _fit(model, X, lists, groups, signs)
    order = fitted.prior_.index.get_indexer(_names(lists))
    scores, probability = (
        np.asarray(values)[order] for values in (fitted.prior_score_, fitted.prior_probability_)
    )
    return scores, probability, fitted.prior_.iloc[order]


def guided_network(model: Any, X: pd.DataFrame, lists: Sequence[Ints]) -> Estimate:
    """The network of a planted table with `lists` known."""
    return network_of(_fit(model, X, lists, None, None))


def network_of(model: Any) -> Estimate:
    """Edges, weights, ranking and probabilities of a fit, for scores against the truth."""
    found = (model.components_, model.weights_, model.edge_score_, model.edge_probability_)
    return Estimate(*(np.asarray(values) for values in found))


def _fit(
    model: Any,
    X: pd.DataFrame,
    lists: Sequence[Ints],
    groups: Ints | None,
    signs: Sequence[Array] | None,
) -> Any:
    from rcweb.estimator import RCweb

    names, variables = _names(lists), np.asarray(X.columns, str)
    prior = GeneSets(
        tuple(names),
        ("",) * len(names),
        tuple(tuple(map(str, variables[listed])) for listed in lists),
        None if signs is None else tuple(tuple(map(float, sign)) for sign in signs),
    )
    given: dict[str, Any] = {"prior": prior, "groups": groups}
    return RCweb(model.n_components, random_state=model.random_state, **given).fit(X)


def _names(lists: Sequence[Ints]) -> list[str]:
    return [f"list {k}" for k in range(len(lists))]
