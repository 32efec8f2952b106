"""The engine's named numbers: found in its modules, scaled, and set to another value for a while.

The published method (``engine/paper``) is left out: its numbers are the paper's.
"""

from __future__ import annotations

import ast
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import CodeType, FrameType, ModuleType
from typing import Any

import rcweb.engine

Value = int | float | tuple[int | float, ...]

PAPER = "rcweb.engine.paper"

# Not varied, and why.
NOT_VARIED = {
    "ENTRIES_SHOWN": "length of a message",
    "ILL_CONDITIONED": "a warning's level; no result depends on it",
    "RIGHT": "a definition: what certified promises",
    "MEDIAN_SQUARE": "mathematics",
    "MEDIAN_VARIANCE": "mathematics",
    "QUARTER": "mathematics",
    "TURNED": "mathematics",
    "LOG_2_PI_E": "mathematics",
    "ROUNDING": "rounding",
    "ABOVE_ROUNDING": "rounding",
    "ROUNDED": "rounding",
    "NO_SHRINKAGE": "rounding",
    "LEAST_NOISE": "rounding",
    "EXACT": "rounding",
    "BLOCK_BYTES": "memory",
    "CHUNK": "memory",
    "ORDERS_AT_ONCE": "memory",
    "ALL_AT_ONCE": "speed of one of two exact ways",
    "FLAT": "mathematics",
    "FLAT_KURTOSIS": "mathematics",
    "REACH": "resolution of a table of values",
    "POINTS": "resolution of a table of values",
    "PART_WIDTH": "resolution of a mixture",
    "ZERO_WITHOUT_NOISE": "rounding",
}
COMPILED = "compiled into a loop"
# A seed: what it moves is the noise of the panel, beside which the moves of others are read.
CONTROL = "STREAM"
# Keep steps finite and uphill, matrices invertible; the answer should not depend on them.
GUARDS = frozenset(
    (
        "AT_REST",
        "COST_STILL",
        "END_FARTHEST",
        "END_NEAREST",
        "END_STILL",
        "LEAST_CURVATURE",
        "LEAST_POWER",
        "LONGEST",
        "MOST_BACKGROUND",
        "MOST_PULL",
        "NARROWEST",
        "NO_NOISE",
        "ROUGH",
        "SAME_NOISE",
        "SETTLED",
        "SHORTEST",
        "SMALLEST_PART",
        "SMALLEST_RISE",
        "STEADY",
        "WIDEST",
        "WORST_CONDITION",
    )
)
# Steps, rounds, starts, searches, samples looked at, and how widths shrink from step to step: more
# and smaller steps are slower, and should be no worse.
BUDGETS = frozenset(
    (
        "ACTIVITY_ROUNDS",
        "ALTERNATIONS",
        "BOTH_SHARP",
        "BOTH_STEPS",
        "BOTH_WIDTHS",
        "CONVERGED_STEPS",
        "DEFLATION_STARTS",
        "DEFLATION_STEPS",
        "DENSITY_ROUNDS",
        "DRAWN",
        "EM_ROUNDS",
        "END_FIRST",
        "END_MOVE",
        "FILL_ROUNDS",
        "FEWEST_STARTS",
        "FEW_STEPS",
        "FINISH_FREE",
        "FIRST",
        "FIRST_STARTS",
        "FITS",
        "FIXED_POINT_START",
        "FIXED_POINT_STEPS",
        "GUESSED_BY",
        "LEAST",
        "MATCHING_ROUNDS",
        "MAX_EXACT",
        "MEASURED",
        "MOMENTUM",
        "MOST",
        "MOST_DIRECTIONS",
        "MOST_ENTRIES",
        "MOST_FITS",
        "MOST_ROUNDS",
        "MOST_SPLITS",
        "MOST_STARTS",
        "MOST_TIMES",
        "NOISE_ROUNDS",
        "NULL_STARTS",
        "OBLIQUE_STEPS",
        "OVER_RELAXED",
        "PAIRS_EACH",
        "PART_ASKED",
        "PEELING_STARTS",
        "POLISH_STEPS",
        "RECALIBRATE",
        "RELEASED",
        "ROUNDS",
        "SAMPLE_SPLITS",
        "SEEN_ENTRIES",
        "SEEN_SAMPLES",
        "SHARPEN_STEPS",
        "SHARP_STEPS",
        "SHRINK",
        "SLOWER",
        "SPLITS",
        "START_FREE",
        "START_ROUNDS",
        "START_STEPS",
        "TAKE",
        "WEIGHING_ROUNDS",
        "WEIGHTED_ROUNDS",
        "WIDE",
        "WIDE_STEPS",
        "WIDTHS",
        "ZERO_DRAWS",
        "ZERO_STEPS",
        "ZERO_VARIABLES",
    )
)
# Ratios that mean "no difference" at 1: their distance from 1 is halved and doubled.
FROM_ONE = frozenset(
    (
        "CLEARLY",
        "MARGIN",
        "ROOM",
        "SPARE",
    )
)


@dataclass(frozen=True)
class EngineConstant:
    """A number, or a tuple of numbers, at the top of a module of the engine."""

    module: str
    name: str
    value: Value

    @property
    def kind(self) -> str:
        """ "choice" (a threshold or a prior), "budget", "guard" or "other"."""
        if self.kept is not None or self.name == CONTROL:
            return "other"
        if self.name in GUARDS:
            return "guard"
        return "budget" if self.name in BUDGETS else "choice"

    @property
    def kept(self) -> str | None:
        """Why it is not varied, or None."""
        return COMPILED if self.module.endswith(".kernels") else NOT_VARIED.get(self.name)

    def scaled(self, factor: float) -> Value:
        """The value, or each of a tuple, times `factor`. Integers stay integers, at least 1. Of
        shares and cosines above a half, and of `FROM_ONE`, the distance from 1 is scaled: 0.95
        becomes 0.975 or 0.9."""
        if isinstance(self.value, tuple):
            return tuple(_times(value, factor) for value in self.value)
        if isinstance(self.value, float) and (self.name in FROM_ONE or 0.5 < self.value < 1):
            return 1 + (self.value - 1) * factor
        return _times(self.value, factor)


def _times(value: int | float, factor: float) -> int | float:
    return max(1, round(value * factor)) if isinstance(value, int) else value * factor


@cache
def engine_constants() -> tuple[EngineConstant, ...]:
    """All of them, by module."""
    found = []
    for module in _modules():
        for name in _assigned(Path(str(module.__file__))):
            value = getattr(module, name)
            if _is_number(value) or (isinstance(value, tuple) and all(map(_is_number, value))):
                found.append(EngineConstant(module.__name__, name, value))
    return tuple(found)


def _modules() -> list[ModuleType]:
    package = rcweb.engine
    names = [info.name for info in walk_packages(package.__path__, f"{package.__name__}.")]
    return [import_module(name) for name in sorted(names) if not name.startswith(PAPER)]


def _assigned(path: Path) -> Iterator[str]:
    """Public names in capitals that the module itself assigns at its top."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            yield from (name for name in names if name.isupper() and not name.startswith("_"))


def _is_number(value: Any) -> bool:
    # An infinity has no half.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


@contextmanager
def set_to(constant: EngineConstant, value: Value) -> Iterator[None]:
    """Give the constant another value wherever the package holds it; restored at the end.

    Modules that import it by name hold copies. A name has one meaning in the whole package, so
    every module that has it is changed. What was computed from it at import stays.
    """
    try:
        _set_everywhere(constant.name, value)
        yield
    finally:
        # All again: a module imported meanwhile holds the other value.
        _set_everywhere(constant.name, constant.value)


def _set_everywhere(name: str, value: Value) -> None:
    for key, module in list(sys.modules.items()):
        # What this module itself calls by such a name is another thing.
        ours = key.startswith("rcweb.") and not key.startswith((PAPER, __name__))
        if ours and name in vars(module):
            vars(module)[name] = value


def names_read(work: Callable[[], Any]) -> tuple[Any, frozenset[str]]:
    """The result of `work`, and the global names that the functions of rcweb called by it mention.

    A constant that is not among them cannot have changed the result.
    """
    home = str(Path(rcweb.engine.__file__).parent.parent)
    called: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            called.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        result = work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    own = (code for code in called if code.co_filename.startswith(home))
    return result, frozenset(name for code in own for name in code.co_names)
