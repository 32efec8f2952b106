"""How a fitted model looks in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted


def model_html(model: Any, diagram: str) -> str:
    """`diagram`, scikit-learn's own, and below it what a fitted model found: words, then a table.

    All text from the data is escaped.
    """
    try:
        check_is_fitted(model)
    # Notebooks also show models before they are fitted.
    except NotFittedError:
        return diagram
    said = (*model.input_.warnings, *model.warnings_)
    notes = "".join(f"<p><b>Note.</b> {escape(text)}</p>" for text in said)
    reason = f"<p>{escape(model.reason_)}</p>" if model.reason_ else ""
    return f"<div>{diagram}{reason}{notes}{model.network_._repr_html_()}</div>"
