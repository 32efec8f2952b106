"""One variable and what regulates it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

# What the shares of variance rest on, said below the table.
_SOURCES = {
    "data": "Shares of variance are measured in the data given.",
    "fit": "Shares of variance are those in the data of the fit.",
    "activities": "Shares of variance are estimated from the activities and the noise of the fit.",
    "model": "Shares of variance take activities as uncorrelated, with variance 1; pass the data "
    "to measure them.",
    "": "Pass the data or the activities for shares of variance.",
}


@dataclass(frozen=True, eq=False)
class Explanation:
    """The regulators of one variable, the strongest first.

    variable, name : id, and the name to show (the id if it has none)
    regulators : DataFrame of regulator (id), name, weight, probability, score, grade (see
        `rcweb.network.GRADES`; "" if there is none) and share: its part of `explained`. Shares add
        up to it, and one of regulators that work against each other may be negative. NaN where
        unknown, and where nothing is explained.
    explained : share of the variance that all of them explain together; negative if the mean
        predicts better, which happens where weights too small for an edge cancel much of the edges;
        NaN where unknown
    noise : standard deviation of what the network leaves unexplained
    source : what shares rest on: "data", "fit", "activities", "model" (see `note`), or "" (none)
    profile : DataFrame of samples x (measured, predicted); None without samples, and without
        "measured" if only activities were given
    """

    variable: str
    name: str
    regulators: pd.DataFrame
    explained: float
    noise: float
    source: str
    profile: pd.DataFrame | None = None

    @property
    def note(self) -> str:
        """A sentence on what the shares of variance rest on."""
        if self.source == "data" and np.isnan(self.explained):
            return "The variable does not vary in the data given: there is no variance to share."
        if self.explained < 0:
            return "These edges alone explain nothing of it, so there are no shares of variance."
        return _SOURCES[self.source]

    def __str__(self) -> str:
        """A heading, the table, and what it rests on."""
        label = self.variable if self.name == self.variable else f"{self.name} ({self.variable})"
        n = len(self.regulators)
        if not n:
            return f"{label}: no regulator has an edge to it."
        head = f"{label}: {n} regulator{'s' if n > 1 else ''}{self._together()}"
        return f"{head}\n{_text(self.regulators)}\n{self.note}"

    def _together(self) -> str:
        """What all regulators explain, as the end of a heading."""
        if np.isnan(self.explained):
            return ""
        if self.explained < 0:
            return ", which predict it no better than its mean does"
        return f", {self.explained:.0%} of its variance"


def _text(regulators: pd.DataFrame) -> str:
    shown = regulators.copy()
    # The id alone where there is no other name.
    shown["name"] = shown["name"].where(shown["name"] != shown["regulator"], "")
    formats = {"weight": "{:.3g}", "probability": "{:.3f}", "score": "{:.1f}", "share": "{:.0%}"}
    # Adding 0 turns -0 % into 0 %.
    shown["share"] = shown["share"].round(2) + 0.0
    for column, form in formats.items():
        shown[column] = ["" if np.isnan(x) else form.format(x) for x in shown[column]]
    empty = [c for c in ("name", "grade", "share") if not (shown[c] != "").any()]
    return str(shown.drop(columns=empty).to_string(index=False))
