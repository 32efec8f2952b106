"""One network of several studies: own means, own noise level, common network."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_array

from rcweb.engine.instrument import Instrument
from rcweb.engine.studies import StudyLevels, agreement, study_levels
from rcweb.engine.types import Array
from rcweb.estimator.fitting import fit_one_table
from rcweb.estimator.input import check_input, validated
from rcweb.tables import InputWarning, Origin, as_numbers
from rcweb.tables.studies import Studies, are_tables, check_in_memory, join_studies, study_of

if TYPE_CHECKING:
    from rcweb.estimator import RCweb

DISAGREES_AT = 0.05  # false discovery rate over regulators and studies; conventional
_NAMED = 5  # regulators in a sentence


def fit_studies(model: RCweb, X: Any, batch: Any) -> RCweb:
    """The body of `RCweb.fit` for several tables, or one table with a label per sample.

    Each study is centred and divided by its noise level, relative to the others; the result is
    fitted as one table. The rows of C do not change with the level of a study, its activities do.
    """
    if model.center is False:
        raise ValueError("Each study has its own mean; center=False contradicts that.")
    studies = join_studies(X, batch)
    values = _numbers(studies.table)
    _check_linked(values, studies)
    _check_raw_input(model, studies, values)
    checked = model.input_
    if len(studies.names) == 1:
        # Nothing to compare: the plain fit.
        table, levels = studies.table, None
    else:
        levels = study_levels(values, studies.study)
        table = _like(studies.table, (values - levels.mean[studies.study]) / _rows(levels, studies))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # said already, of the table as it was given
        # Studies have limits and responses of their own, which one scale for all of them mixes.
        fit_one_table(model, table, measured_alike=levels is None)
    model.input_ = checked
    _store_studies(model, studies, values, levels)
    return model


def with_common_mean(model: RCweb, X: Any, batch: Any) -> Any:
    """The table with the mean of each sample's study replaced by the common mean `mean_`.

    A label None or "" keeps the sample as it is.
    """
    if not hasattr(model, "study_names_"):
        raise ValueError("The model was fitted without studies; leave out batch.")
    names = list(model.study_names_)
    if are_tables(X):
        joined = join_studies(X, batch)
        table, labels = _aligned(model, joined), [joined.names[s] for s in joined.study]
    else:
        check_in_memory(X, "A table with batch=")
        table, labels = X, study_of(batch, len(X))
    unknown = [label for label in labels if label is not None and label not in names]
    if unknown:
        known = ", ".join(map(repr, names[:10]))
        raise ValueError(
            f"The model knows no study {unknown[0]!r}; it knows {known}. Label None takes the "
            "common mean."
        )
    means = np.vstack([model.study_means_, model.mean_])
    rows = means[[len(names) if label is None else names.index(label) for label in labels]]
    # Checked here as `transform` would: another number of variables has no means.
    return _like(table, validated(model, table, reset=False) - rows + model.mean_)


def _aligned(model: RCweb, studies: Studies) -> Any:
    """The joined table with the variables of the model, in its order."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or not isinstance(studies.table, pd.DataFrame):
        return studies.table
    return studies.table.reindex(columns=list(names))


def _numbers(table: Any) -> Array:
    return np.asarray(
        check_array(as_numbers(table), dtype=np.float64, ensure_all_finite="allow-nan")
    )


def _like(table: Any, values: Array) -> Any:
    if isinstance(table, pd.DataFrame):
        return pd.DataFrame(values, index=table.index, columns=table.columns)
    return values


def _rows(levels: StudyLevels, studies: Studies) -> Array:
    return levels.noise[studies.study][:, None]


def _check_linked(values: Array, studies: Studies) -> None:
    """Studies that share no variable with the others have no common network."""
    seen = ~np.isnan(values)
    S = len(studies.names)
    measured = np.array([seen[studies.study == s].any(axis=0) for s in range(S)])
    for s, name in enumerate(studies.names if S > 1 else ()):
        if not (measured[s] & np.delete(measured, s, axis=0).any(axis=0)).any():
            raise ValueError(
                f"Study {name!r} shares no variable with the others; are names of variables the "
                "same in all of them?"
            )


def _check_raw_input(model: RCweb, studies: Studies, values: Array) -> None:
    table = studies.table
    columns = list(map(str, table.columns)) if isinstance(table, pd.DataFrame) else None
    origin = Origin.of(table)
    check_input(model, origin.look(values, columns), origin.source)


def _store_studies(
    model: RCweb, studies: Studies, values: Array, levels: StudyLevels | None
) -> None:
    S = len(studies.names)
    straight = Instrument.of(model).straight(values)
    if levels is None:
        levels = StudyLevels(model.mean_[None], np.ones(1))
    else:
        # The fit found a small mean of the scaled table, through missing values: it belongs to all.
        own = levels.mean + levels.noise[:, None] * model.mean_
        model.mean_ = np.nanmean(values, axis=0)
        levels = StudyLevels(np.where(np.isnan(own), model.mean_, own), levels.noise)
    model.study_names_ = studies.names
    model.study_means_, model.study_noise_ = levels.mean, levels.noise
    centred = straight - levels.mean[studies.study]
    # As the user's own call would: a difference in layout changes the last bits.
    R = model.transform(_like(studies.table, centred + model.mean_ if S > 1 else values))
    R = np.asarray(R, dtype=np.float64)  # a DataFrame after set_output
    found = agreement(centred, studies.study, R, model.components_, model.weights_)
    from rcweb.knowledge.hypergeometric import log_benjamini_hochberg

    tested = found.log_p < 0
    log_q = np.zeros_like(found.log_p)
    log_q[tested] = log_benjamini_hochberg(found.log_p[tested])
    P, sizes = model.n_components_, np.bincount(studies.study)
    model.study_records_ = {
        "regulator": [name for name in model.get_feature_names_out() for _ in range(S)],
        "study": list(studies.names) * P,
        "n_samples": sizes.tolist() * P,
        "variance_share": found.share.T.ravel().tolist(),
        "correlation": found.correlation.T.ravel().tolist(),
        "excess": np.nan_to_num(found.excess, nan=0.0).T.ravel().tolist(),
        "q": np.exp(log_q).T.ravel().tolist(),
        "disagrees": ((log_q < np.log(DISAGREES_AT)) & (S > 1)).T.ravel().tolist(),
    }
    model.warnings_ = (*model.warnings_, *_disagreement(model))


def _disagreement(model: RCweb) -> tuple[str, ...]:
    table = model.studies_
    found = table[table["disagrees"]]
    if found.empty:
        return ()
    regulators = list(dict.fromkeys(found["regulator"]))
    more = f" and {len(regulators) - _NAMED} more" if len(regulators) > _NAMED else ""
    return (
        f"Studies disagree on the targets of {', '.join(regulators[:_NAMED])}{more}, beyond what "
        "is usual between them; see studies_.",
    )
