"""What a fitted model says about one of its variables."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from rcweb.engine.instrument import Instrument
from rcweb.engine.types import Array
from rcweb.estimator.studies import with_common_mean
from rcweb.network import Explanation, Network
from rcweb.tables.studies import are_tables

if TYPE_CHECKING:
    from rcweb.estimator import RCweb


def explain_variable(
    model: RCweb,
    variable: str,
    X: Any = None,
    activities: Any = None,
    batch: Any = None,
    known: pd.Series | None = None,
) -> Explanation:
    """The body of `RCweb.explain`: regulators of a variable, and how much of it they explain.

    known : share of the variance of every variable that was explained in the fit, where it was kept
        and the data are not at hand; with `activities`
    """
    if X is not None and (batch is not None or are_tables(X)):
        X = with_common_mean(model, X, batch)
    network = model.network_
    n = network.target_position(str(variable))
    measured = None if X is None else _column(X, n)
    R = _activities(model, X, activities)
    if R is not None and measured is not None and len(R) != len(measured):
        raise ValueError(f"activities of {len(R)} samples, but X has {len(measured)}.")
    whole = float("nan") if known is None else float(known.get(network.targets[n], np.nan))
    instrument = Instrument.of(model).variable(n)
    straight = None if measured is None else instrument.straight(measured[:, None])[:, 0]
    share, explained, source = _shares(model, n, R, straight, whole)
    edges = np.flatnonzero(network.weights[:, n])
    # The surest first; equal scores keep the order of regulators.
    edges = edges[np.argsort(-np.abs(network.score[edges, n]), kind="stable")]
    return Explanation(
        variable=network.targets[n],
        name=network.target_names[n],
        regulators=_regulators(network, n, edges).assign(share=share[edges]),
        explained=explained,
        noise=float(model.noise_[n]),
        source=source,
        profile=_profile(model, n, R, measured, instrument, _sample_names(X, activities)),
    )


def _activities(model: RCweb, X: Any, activities: Any) -> Array | None:
    if activities is None:
        return None if X is None else np.asarray(model.transform(X), dtype=np.float64)
    R = check_array(activities, dtype=np.float64)
    if R.shape[1] != model.n_components_:
        raise ValueError(
            f"activities has {R.shape[1]} columns, but the model has {model.n_components_} "
            "regulators."
        )
    return R


def _column(X: Any, n: int) -> Array:
    """(M,) values of one variable of a table in memory; NaN = not measured."""
    if isinstance(X, str | PathLike):
        raise TypeError("X must be a table in memory, not the path of a file.")
    if isinstance(X, pd.DataFrame):
        return X.iloc[:, n].to_numpy(dtype=np.float64)
    values = (X if hasattr(X, "shape") else np.asarray(X))[:, [n]]
    values = getattr(values, "X", values)  # of an AnnData object
    return np.asarray(_dense(values), dtype=np.float64).ravel()


def _dense(values: Any) -> Any:
    return values.toarray() if issparse(values) else values


def _shares(
    model: RCweb, n: int, R: Array | None, measured: Array | None, whole: float
) -> tuple[Array, float, str]:
    """(P,) share of the variance by regulator, the share explained together, and the source.

    whole : the share explained together, NaN where it has to be found
    """
    C, D = model.components_[:, n], model.weights_[:, n] - model.components_[:, n]
    noise = float(model.noise_[n])
    # Only "refined" scales activities to variance 1.
    known = R is not None or model.method == "refined"
    S = np.eye(len(C)) if R is None else np.atleast_2d(np.cov(R, rowvar=False, ddof=0))
    if not np.isnan(whole):
        total, rest, source = 1.0, 1 - whole, "fit"
    elif R is not None and measured is not None:
        seen = ~np.isnan(measured)
        x, R = measured[seen] - model.mean_[n], R[seen]
        total = float(((x - x.sum() / max(len(x), 1)) ** 2).sum())
        rest, source = float(((x - R @ C) ** 2).sum()), "data"
    elif known:
        # Weights below the cut for edges are part of the variable, not of what edges explain.
        total = float((C + D) @ S @ (C + D)) + noise**2
        rest, source = float(D @ S @ D) + noise**2, "model" if R is None else "activities"
    else:
        total, source = 0.0, ""
    if not total > 0:
        return np.full(len(C), np.nan), float("nan"), source
    # Each regulator's part in the variance of the prediction; parts add up to the whole.
    predicted = float(C @ S @ C)
    parts = C * (S @ C) / predicted if predicted > 0 else np.zeros(len(C))
    explained = 1 - rest / total
    # Nothing is explained, so there is nothing to divide: such parts would turn every sign.
    if explained < 0:
        return np.full(len(C), np.nan), explained, source
    return explained * parts, explained, source


def _profile(
    model: RCweb,
    n: int,
    R: Array | None,
    measured: Array | None,
    instrument: Instrument,
    samples: Any,
) -> pd.DataFrame | None:
    if R is None:
        return None
    columns = {} if measured is None else {"measured": measured}
    predicted = R @ model.components_[:, n] + model.mean_[n]
    columns["predicted"] = instrument.readings(predicted[:, None])[:, 0]
    return pd.DataFrame(columns, index=samples)


def _sample_names(*tables: Any) -> Any:
    """The names of the first table that has any; None numbers the samples."""
    named = [table.index for table in tables if isinstance(table, pd.DataFrame)]
    return named[0] if named else None


def _regulators(network: Network, n: int, edges: Any) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "regulator": pd.Series([network.regulators[p] for p in edges], dtype=object),
            "name": pd.Series([network.regulator_names[p] for p in edges], dtype=object),
            "weight": network.weights[edges, n],
            "probability": network.probability[edges, n],
            "score": network.score[edges, n],
            "grade": pd.Series([network.grades[p] for p in edges], dtype=object),
        }
    )
