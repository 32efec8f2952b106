"""The page itself: template, styles and scripts of the package and the data, in one file.

Text from the data enters the html in two ways only: escaped into the template, or as JSON in a
script element that is never executed. A content security policy forbids the page every request and
every script but its own.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

from rcweb.report.data import ReportData
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
    """Write the page to `path`, atomically; it opens from a double click, without a network."""
    write_text(path, render_report(data))
    return Path(path)


def render_report(data: ReportData) -> str:
    """The page as text."""
    # One function scope: the page defines no global names, and one hash covers all scripts.
    script = '(() => {\n"use strict";\n' + "\n".join(map(_asset, SCRIPTS)) + "\n})();"
    return Template(_asset("report.html")).substitute(
        title=escape(data.title),
        headline=escape(data.summary[0] if data.summary else ""),
        summary=" ".join(map(escape, data.summary[1:])),
        # Pictures only from the page itself: a figure is saved as PNG by way of one.
        policy="default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src {_digest(script)}",
        style="\n".join(map(_asset, STYLES)),
        data=_json_for_html(data.to_json()),
        script=script,
    )


def _asset(name: str) -> str:
    return (files("rcweb.report") / "assets" / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json_for_html(text: str) -> str:
    """JSON that can neither close its script element nor open a comment in it."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
