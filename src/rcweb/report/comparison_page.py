"""One self-contained html page about two fits side by side.

Names enter the page escaped; the figure is an SVG whose text its writer has escaped.
"""

from __future__ import annotations

import math
import re
from html import escape
from string import Template
from typing import Any

from rcweb.activity import Comparison
from rcweb.report.inline import asset, policy

# Title, column of the table, format of its numbers.
_COLUMNS = (
    ("relation", "relation", ""),
    ("correlation", "correlation", ".3f"),
    ("activities", "activity_correlation", ".3f"),
    ("scale", "scale", ".3g"),
    ("overlap", "overlap", "d"),
    ("q", "q", ".1e"),
)
# Colours of `rcweb.plot.comparison`, and what stands for them in light and dark.
_COLOURS = {
    "#1c2430": "currentColor",
    "#ffffff": "var(--surface)",
    "#8a8f98": "var(--muted)",
    "#0072b2": "var(--same)",
    "#d55e00": "var(--split)",
    "#009e73": "var(--merged)",
    "#cc79a7": "var(--regrouped)",
}


def render_comparison(result: Comparison, figure: str = "") -> str:
    """The page about two fits, as text.

    result : of `rcweb.activity.compare`
    figure : an SVG in light colours, as of `rcweb.plot.comparison`, of which ink and paper follow
        the colours of the page

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from rcweb.activity import compare
    >>> from rcweb.report import render_comparison
    >>> weights = pd.DataFrame(np.kron(np.eye(3), np.ones(20)), index=list("abc"))
    >>> render_comparison(compare(weights, -weights)).startswith("<!doctype html>")
    True
    """
    script = asset("compare.js")
    first, *others = result.summary
    return Template(asset("compare.html")).substitute(
        title=escape(f"{result.names[0]} and {result.names[1]}"),
        headline=escape(first),
        summary="\n".join(f"    <li>{escape(sentence)}</li>" for sentence in others),
        figure=_figure(figure),
        table=_table(result),
        policy=policy(script),
        style=asset("compare.css"),
        script=script,
    )


def _figure(svg: str) -> str:
    if not svg:
        return ""
    # Inside html there is no xml declaration; colours of the page, so that it is readable at night.
    svg = svg[svg.index("<svg") :]
    for colour, ours in _COLOURS.items():
        svg = svg.replace(colour, ours)
    # Only what is drawn: links of the metadata lead nowhere from here.
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return f'  <h2>Who is who</h2>\n  <div class="wide">\n{svg}\n  </div>'


def _table(result: Comparison) -> str:
    A, B = map(escape, result.names)
    titles = [A, B, *(title for title, _, _ in _COLUMNS), f"edges of {A}", f"edges of {B}"]
    heads = "".join(f'<th scope="col"><button type="button">{t}</button></th>' for t in titles)
    rows = "\n".join(_row(row) for row in result.table.to_dict("records"))
    return f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>"


def _row(row: dict[Any, Any]) -> str:
    cells = [_regulator(row[side], row[f"{side}_name"]) for side in "ab"]
    cells += [_cell(row[column], form, row["relation"]) for _, column, form in _COLUMNS]
    cells += [_cell(row[column], "d") for column in ("edges_a", "edges_b")]
    return f"<tr>{''.join(cells)}</tr>"


def _regulator(key: str | None, name: str | None) -> str:
    if key is None or name is None:
        return '<td data-value=""></td>'
    known = "" if name == key else f" <small>{escape(key)}</small>"
    return f'<td data-value="{escape(name)}">{escape(name)}{known}</td>'


def _cell(value: Any, form: str, relation: str = "") -> str:
    if not form:
        return f'<td data-value="{relation}" class="{relation}">{relation}</td>'
    # Counts without a value are pandas' NA, numbers are NaN.
    missing = not isinstance(value, int | float) or math.isnan(value)
    text = "" if missing else format(int(value) if form == "d" else value, form)
    return f'<td data-value="{"" if missing else float(value)}">{text}</td>'
