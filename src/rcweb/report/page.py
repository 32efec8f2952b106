"""The page itself: template, styles and scripts of the package and the data, in one file.

Text from the data enters the html in two ways only: escaped into the template, or as JSON in a
script element that is never executed. A content security policy forbids the page every request and
every script but its own.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from string import Template

from rcweb.report.data import ReportData
from rcweb.report.inline import asset, policy
from rcweb.storage.atomic import write_text

# In this order: a later file uses names of the earlier ones.
STYLES = (
    "page.css",
    "parts.css",
    "tables.css",
    "drawings.css",
    "analyses.css",
    "network.css",
    "narrow.css",
)
SCRIPTS = (
    "base.js",
    "table.js",
    "figure.js",
    "charts.js",
    "grades.js",
    "groups.js",
    "activity.js",
    "targets.js",
    "candidates.js",
    "genes.js",
    "detail.js",
    "diagnosis.js",
    "search.js",
    "regulators.js",
    "contrasts.js",
    "associations.js",
    "lists.js",
    "measured.js",
    "tabs.js",
    "paint.js",
    "canvas.js",
    "panel.js",
    "network.js",
    "main.js",
)


def write_report(path: str | Path, data: ReportData) -> Path:
    """Write the page, atomically; it opens from a double click, without a network.

    path : of the html file, replaced if it is there
    data : of `report_data`

    Returns the path.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.report import report_data, write_report
    >>> from rcweb.simulate import simulate
    >>> X = simulate(60, 40, 3, random_state=0).data
    >>> write_report("report.html", report_data(RCweb(3).fit(X), X)).name
    'report.html'
    """
    write_text(path, render_report(data))
    return Path(path)


def render_report(data: ReportData) -> str:
    """The page as text.

    data : of `report_data`

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.report import render_report, report_data
    >>> from rcweb.simulate import simulate
    >>> X = simulate(60, 40, 3, random_state=0).data
    >>> render_report(report_data(RCweb(3).fit(X), X)).startswith("<!doctype html>")
    True
    """
    # One function scope: the page defines no global names, and one hash covers all scripts.
    script = '(() => {\n"use strict";\n' + "\n".join(map(asset, SCRIPTS)) + "\n})();"
    return Template(asset("report.html")).substitute(
        title=escape(data.title),
        headline=escape(data.summary[0] if data.summary else ""),
        summary=" ".join(map(escape, data.summary[1:])),
        policy=policy(script),
        style="\n".join(map(asset, STYLES)),
        data=_json_for_html(data.to_json()),
        script=script,
    )


def _json_for_html(text: str) -> str:
    """JSON that can neither close its script element nor open a comment in it."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
