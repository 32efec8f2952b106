"""Python objects as tables of numbers: masked entries become NaN, dates and text are errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcweb.tables.columns import is_number

_DATES = "Mm"  # NumPy's kinds of dates and of durations


def as_numbers(X: Any) -> Any:
    """`X` with masked entries as NaN.

    Raises TypeError for dates, which NumPy would turn into numbers, and ValueError for columns of
    text; both name the column. scikit-learn validates the rest.
    """
    if isinstance(X, np.ma.MaskedArray):
        _refuse_dates(X.dtype)
        return np.ma.filled(X.astype(np.float64), np.nan)
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # a DataFrame; pandas need not be there
        for j, (name, dtype) in enumerate(zip(X.columns, X.dtypes)):
            _refuse_dates(dtype, f"Column {name!r}: ")
            # Only such columns can hold text; scanning numbers would cost time.
            if getattr(dtype, "kind", "O") in "OUS":
                _refuse_text(name, X.iloc[:, j])
    elif isinstance(X, np.ndarray):
        _refuse_dates(X.dtype)
    return X


def _refuse_dates(dtype: Any, where: str = "") -> None:
    if getattr(dtype, "kind", "") in _DATES:
        raise TypeError(
            f"{where}dates and durations ({dtype}) are not measurements. Leave them out, or turn "
            "them into numbers first."
        )


def _refuse_text(name: Any, column: Any) -> None:
    cells = (cell for cell in column if isinstance(cell, str) and not is_number(cell))
    text = next(cells, None)
    if text is not None:
        raise ValueError(
            f"Column {name!r} holds text, such as {text[:40]!r}. Leave it out: "
            f"X.drop(columns=[{name!r}]); names of samples belong in the index."
        )
