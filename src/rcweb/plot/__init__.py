"""Figures: one function each, which takes axes (or makes them) and returns them.

May import: knowledge, activity and what is below them.
Exports: the functions listed below.
"""

from __future__ import annotations

from rcweb.plot.association_map import associations
from rcweb.plot.comparison_links import comparison
from rcweb.plot.dima_plot import dima
from rcweb.plot.heatmap import activities
from rcweb.plot.network_pair import networks
from rcweb.plot.overlap_table import overlaps
from rcweb.plot.scree import spectrum
from rcweb.plot.target_bars import targets
from rcweb.plot.volcano_plot import volcano

__all__ = [
    "activities",
    "associations",
    "comparison",
    "dima",
    "networks",
    "overlaps",
    "spectrum",
    "targets",
    "volcano",
]
