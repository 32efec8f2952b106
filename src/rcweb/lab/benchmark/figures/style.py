"""What all figures share: the look of each method, and the sizes of print."""

from __future__ import annotations

from typing import Any

from rcweb.lab.benchmark.methods import METHODS

# Okabe and Ito's colours first: told apart by colour-blind readers and, with markers, in grey.
STYLE: dict[str, tuple[str, str]] = {
    "rcweb": ("#D55E00", "o"),
    "rcweb-paper": ("#E69F00", "s"),
    "fastica": ("#0072B2", "^"),
    "fastica-samples": ("#56B4E9", "v"),
    "ipca-fastica": ("#003F5C", "1"),
    "ksvd": ("#009E73", "D"),
    "empca": ("#CC79A7", "P"),
    "ksvd-published": ("#66C2A5", "d"),
    "ksvd-package": ("#004D38", "d"),
    "varimax": ("#999999", "X"),
    "psmf": ("#7A5195", "<"),
    "bfrm": ("#8C2D04", ">"),
    "sparse-pca": ("#4D4D4D", "p"),
    "dictionary": ("#66A61E", "h"),
    "l1-sphere": ("#A6761D", "*"),
}
# Told something about the truth: lines to compare with, never winners.
REFERENCES = {name for name, method in METHODS.items() if method.role == "reference"}

# Inches: a figure of this width keeps type of 9 points readable on a printed page.
WIDTH = 8.6
FONTS: dict[Any, Any] = {"font.size": 9, "axes.titlesize": 10, "legend.fontsize": 8.5}


def in_order(names: set[str]) -> list[str]:
    """Methods in the order of the registry, references last."""
    known = [name for name in METHODS if name in names]
    return [n for n in known if n not in REFERENCES] + [n for n in known if n in REFERENCES]
