"""A fitted model, network, table or array as one labelled network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from rcweb.network import Network


def as_network(
    source: Any,
    regulators: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
) -> Network:
    """A `Network` from a fitted ``RCweb``, a `Network`, a DataFrame or a (P, N) array.

    A table or array holds weights, zero = no edge (a boolean mask is a network of weights 1). A
    plain array needs `targets`; regulators are called rcweb0, rcweb1, ... unless named.
    """
    if hasattr(source, "fit"):
        check_is_fitted(source)
    # By attribute, so that any estimator with a `network_` works.
    network = getattr(source, "network_", source)
    if isinstance(network, Network):
        return network
    if isinstance(network, pd.DataFrame):
        regulators = list(map(str, network.index)) if regulators is None else regulators
        targets = list(map(str, network.columns)) if targets is None else targets
    weights = network.toarray() if sparse.issparse(network) else np.asarray(network)
    if weights.ndim != 2:
        raise ValueError(f"a network is a table of regulators x targets, not {weights.ndim}-d.")
    weights = weights.astype(np.float64)
    if targets is None:
        raise ValueError("a plain array has no names: pass targets=, one name per column.")
    if regulators is None:
        regulators = [f"rcweb{p}" for p in range(len(weights))]
    return Network(
        weights=weights,
        # A bare matrix says nothing about certainty: every edge counts as certain.
        probability=(weights != 0).astype(np.float64),
        score=weights,
        regulators=tuple(regulators),
        targets=tuple(targets),
    )
