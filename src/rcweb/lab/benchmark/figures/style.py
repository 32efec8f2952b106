"""What all figures share: the look of each method, and the sizes of print."""

from __future__ import annotations

from typing import Any

from rcweb.lab.benchmark.methods import METHODS

# Okabe and Ito's colours first: told apart by colour-blind readers and, with markers, in grey.
STYLE = {name: method.record.look for name, method in METHODS.items() if method.record.look}
# Told something about the truth: lines to compare with, never winners.
REFERENCES = {name for name, method in METHODS.items() if method.role == "reference"}

# Inches: a figure of this width keeps type of 9 points readable on a printed page.
WIDTH = 8.6
FONTS: dict[Any, Any] = {"font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8.5}


def in_order(names: set[str]) -> list[str]:
    """Methods in the order of the registry, references last."""
    known = [name for name in METHODS if name in names]
    return [n for n in known if n not in REFERENCES] + [n for n in known if n in REFERENCES]
