"""A table on its way in: its numbers as scikit-learn checks them, the input check, holes filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from rcweb.engine.limits import at_limits, without_limits
from rcweb.engine.types import Array
from rcweb.storage.errors import warn_user

if TYPE_CHECKING:
    from rcweb.tables import Look


def validated(model: Any, X: Any, **options: Any) -> Any:
    """A table that scikit-learn knows, as float64 in C order (sums over another layout differ
    in the last bits) or as sparse rows of any type."""
    from rcweb.tables import as_numbers

    return validate_data(
        model,
        as_numbers(X),
        dtype="numeric" if issparse(X) else np.float64,
        order="C",
        accept_sparse="csr",
        ensure_all_finite="allow-nan",
        **options,
    )


def check_input(model: Any, look: Look, source: str) -> None:
    """Store the input check in `input_`, and warn if the table looks suspicious."""
    from rcweb.tables import InputWarning, check_object

    model.input_ = check_object(look, source)
    if model.input_.warnings:
        warn_user("\n".join(model.input_.warnings), InputWarning)


def fill_missing(model: Any, X: Any, measured_alike: bool) -> tuple[Any, Array | None]:
    """The table with missing values, and those at limits of detection, filled, and the measured
    share of each variable; the table itself and None if there are none of either."""
    model.limits_ = without_limits(X.shape[1])
    if issparse(X):
        return X, None
    from rcweb.tables.limits import find_limits

    found = find_limits(X) if measured_alike else None
    if found is None and np.isfinite([X.min(), X.max()]).all():  # NaN comes through
        return X, None
    from rcweb.engine.missing import check_missing, fill

    check_missing(X, model._given_names())
    if found is not None:
        model.limits_ = np.stack(found)
    filled = fill(X, limits=found)
    if model.verbose:
        holes = f"{np.isnan(X).sum():,} missing values"
        beyond = f", {at_limits(X, model.limits_).sum():,} at limits of detection"
        what = holes + (beyond if found is not None else "")
        print(f"filled: {what}, by {filled.n_components} directions")
    return filled.data, filled.observed
