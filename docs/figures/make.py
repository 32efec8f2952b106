"""Draw the pictures of the documentation: ``python docs/figures/make.py [name ...]``.

Each function of the modules listed here is one picture, written to ``docs/images`` under the
function's name, with "-" for "_". The same bytes come out every time. Pictures of E. coli need its
table (the package index once, or the cache).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import matplotlib
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parent))

import compare
import paper
import reading
from style import IMAGES, SETTINGS, save

import engine


def pictures(*modules: ModuleType) -> dict[str, Callable[[], Figure]]:
    """Name and function of every picture."""
    return {
        name.replace("_", "-"): value
        for module in modules
        for name, value in vars(module).items()
        if name.startswith(f"{module.__name__}_")
    }


PICTURES = pictures(paper, engine, reading, compare)


def draw(name: str, folder: Path = IMAGES) -> Path:
    """Draw one picture."""
    with matplotlib.rc_context(SETTINGS):
        return save(PICTURES[name](), name, folder)


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        print(draw(name))
