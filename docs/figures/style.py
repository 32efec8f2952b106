"""What all pictures share: sizes, colours, and files that are the same bytes every time."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

IMAGES = Path(__file__).parents[1] / "images"
# Dark enough for text, and told apart by colour-blind readers.
BLUE, ORANGE, GREEN, RED, GREY = "#1f5f8b", "#d1701c", "#3f7f3a", "#a8324a", "#7d7d7d"
LIGHT = "#d9d9d9"
WIDTH = 7.4  # inches: the width of a page of the site
DPI = 150
COLOURS = 96
SETTINGS = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "savefig.facecolor": "white",
}


def new_figure(height: float, columns: int = 1, **layout: object) -> tuple[Figure, list[Axes]]:
    """A figure of the page's width with one row of axes; `layout` as of `Figure.subplots`."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False, **layout)
    return figure, list(axes[0])


def save(figure: Figure, name: str, folder: Path = IMAGES) -> Path:
    """Write `name`.png with a palette, a third of the bytes of full colour."""
    path = folder / f"{name}.png"
    buffer = BytesIO()
    figure.savefig(buffer, dpi=DPI, metadata={"Software": None})
    picture = Image.open(buffer).convert("RGB")
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


def without_ticks(axes: Axes) -> None:
    """For pictures of matrices and networks."""
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
