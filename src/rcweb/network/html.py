"""How a network looks in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

# A notebook shows a summary; the whole network is in `edges()`.
_MAX_REGULATORS = 20
_MAX_TARGETS = 8


def network_html(
    weights: NDArray[np.float64],
    probability: NDArray[np.float64],
    regulators: Sequence[str],
    sets: Sequence[Sequence[str]],
) -> str:
    """A caption and a table: one row per regulator, with its surest targets. Names are escaped.

    weights, probability : (P, N); `sets` gives the targets of each regulator, the surest first.
    """
    edge = weights != 0
    P, N = weights.shape
    n_regulated = int(edge.any(axis=0).sum())
    caption = (
        f"<b>rcweb network</b>: {P} regulators, {n_regulated} of {N} targets regulated, "
        f"{int(edge.sum())} edges"
    )
    rows = "".join(
        _row(name, weights[p][edge[p]], probability[p][edge[p]], sets[p])
        for p, name in enumerate(regulators[:_MAX_REGULATORS])
    )
    more = f"<p>... and {P - _MAX_REGULATORS} more regulators</p>" if P > _MAX_REGULATORS else ""
    head = "".join(
        f'<th style="text-align:left">{title}</th>'
        for title in ("regulator", "targets", "up", "down", "mean probability", "surest targets")
    )
    return (
        f"<div><p>{caption}</p><table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>{more}</div>"
    )


def _row(
    name: str,
    weights: NDArray[np.float64],
    probability: NDArray[np.float64],
    targets: Sequence[str],
) -> str:
    mean = f"{probability.mean():.2f}" if len(probability) else "-"
    shown = ", ".join(escape(target) for target in targets[:_MAX_TARGETS])
    if len(targets) > _MAX_TARGETS:
        shown += ", ..."
    cells = (
        escape(name),
        str(len(weights)),
        str(int((weights > 0).sum())),
        str(int((weights < 0).sum())),
        mean,
        shown,
    )
    return "<tr>" + "".join(f'<td style="text-align:left">{c}</td>' for c in cells) + "</tr>"
