"""The only import of matplotlib, and helpers that all figures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIGNED = "RdBu_r"  # positive red, negative blue; distinct for all common kinds of colour vision
MUTED = "#8a8f98"


def pyplot() -> Any:
    """``matplotlib.pyplot``, or an error that names the extra to install."""
    try:
        # Imported here: matplotlib is an extra, and takes long to import.
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("Figures need matplotlib: pip install 'rcweb[plot]'.") from None
    return plt


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """The axes given, or new ones on a figure of that size in inches."""
    if ax is not None:
        return ax
    figure = pyplot().figure(figsize=(width, height), layout="constrained")
    return figure.add_subplot()


def unboxed(ax: Axes) -> Axes:
    """Without the frame lines that carry no information."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def shortened(text: str, length: int) -> str:
    """At most `length` characters, cut at a word where possible."""
    if len(text) <= length:
        return text
    # Room for the ellipsis.
    return text[: length - 1].rsplit(" ", 1)[0] + "…"
