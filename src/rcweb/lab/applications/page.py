"""The page of an application: one self-contained HTML file with tables and figures."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from rcweb.knowledge import named_activities
from rcweb.lab.datasets import Dataset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2733; background: #fff; }
h1, h2 { line-height: 1.2; } img { max-width: 100%; height: auto; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .25rem .7rem; text-align: left; border-bottom: 1px solid #d7dde5; }
th { background: #f2f5f9; position: sticky; top: 0; } small { color: #5a6675; }
@media (prefers-color-scheme: dark) { body { color: #dfe6ee; background: #14191f; }
  th { background: #202832; } th, td { border-color: #35404d; } small { color: #9aa7b5; }
  img { background: #fff; } }
"""


def page_html(
    data: Dataset,
    model: Any,
    names: pd.DataFrame,
    figure5: pd.DataFrame,
    comparison: pd.DataFrame,
    seconds: float,
) -> str:
    """The page as text. Figures are left out, with a word on it, where matplotlib is missing."""
    title = f"Hidden regulators of {data.name}"
    M, N = data.expression.shape
    parts = [
        f"<p>{M:,} samples x {N:,} genes; {len(names)} regulators, "
        f"{model.network_.n_edges:,} edges; {len(figure5)} regulators overlap with one of "
        f"{figure5['known_regulator'].nunique()} known ones (Bonferroni 0.05). "
        f"{seconds:.0f} s in all.</p>",
        "<h2>Known regulators met</h2>",
        _table(comparison),
        "<p><small>Bonferroni 0.05 over all pairs, each sign a set of its own; <i>permuted</i>: "
        "the same after the names of the genes are shuffled; <i>strongest edges</i>: a network "
        "cut at the number of edges of the one it is compared with.</small></p>",
        *_figures(data, model, names),
        "<h2>Regulators, known regulators, functions</h2>",
        _table(figure5),
        f"<p><small>{escape(data.source)}</small></p>",
    ]
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{PAGE_STYLE}</style></head><body><h1>{escape(title)}</h1>{''.join(parts)}</body></html>"
    )


def _table(table: pd.DataFrame) -> str:
    shown = table.rename(columns=lambda c: str(c).replace("_", " "))
    return f'<div class="wide">{shown.to_html(index=False, border=0, escape=True)}</div>'


def _figures(data: Dataset, model: Any, names: pd.DataFrame) -> list[str]:
    try:
        from rcweb import plot
        from rcweb.plot.axes import pyplot

        pyplot()
    # matplotlib is an extra; the tables are useful without it.
    except ImportError as error:
        return [f"<p><small>No figures: {escape(str(error))}</small></p>"]
    best = names[names["name"] != ""].sort_values("log10_p", kind="stable").head(30)
    if best.empty:
        return []
    labels = {str(gene): str(symbol) for gene, symbol in data.genes["symbol"].items()}
    first = str(best.index[0])
    known = data.known.members[data.known.names.index(str(best["best_known"].iloc[0]))]
    activities = named_activities(model.transform(data.expression), names)
    groups = data.samples["group"].astype(str)
    drawn: list[tuple[str, Callable[[], Axes]]] = [
        ("Overlap with known regulators", lambda: plot.overlaps(names, n=20)),
        (
            "Activities of named regulators, known activation positive",
            lambda: plot.activities(activities[list(best["name"])], groups=list(groups)),
        ),
        (
            f"Targets of {best['name'].iloc[0]}",
            lambda: plot.targets(model.network_, first, known=set(known), labels=labels),
        ),
        ("Spectrum and number of regulators", lambda: plot.spectrum(model)),
    ]
    return [f"<h2>{escape(title)}</h2>{_image(draw(), title)}" for title, draw in drawn]


def _image(ax: Axes, title: str) -> str:
    from rcweb.plot.axes import pyplot

    buffer = io.BytesIO()
    figure: Any = ax.figure
    figure.savefig(buffer, format="png", dpi=130)
    # pyplot keeps every figure alive until it is closed.
    pyplot().close(figure)
    text = base64.b64encode(buffer.getvalue()).decode("ascii")
    return f'<img alt="{escape(title, quote=True)}" src="data:image/png;base64,{text}">'
