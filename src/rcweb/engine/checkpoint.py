"""What the engine asks of a checkpoint: finished stages of a fit, saved and loaded again.

The engine does not know where they are kept; `rcweb.storage.checkpoint` keeps them in a folder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from rcweb.engine.types import Rng

T = TypeVar("T")


class StageStore(Protocol):
    """Stages by name: dataclasses of arrays and plain values, each with its random generator."""

    def load(self, name: str, kind: type[T], rng: Rng | None = None) -> T | None:
        """The value saved under this name, or None. Restores the state of `rng`."""

    def save(self, name: str, value: Any, rng: Rng | None = None) -> None:
        """Save `value` and the state of `rng` under this name; replaces an earlier value."""

    def due(self) -> bool:
        """Whether it is time to save work in progress."""


def staged(
    store: StageStore | None, name: str, compute: Callable[[], T], kind: type[T], rng: Rng
) -> T:
    """The saved result of a stage; computed and saved first if there is none.

    kind : dataclass of arrays, plain values and such dataclasses
    rng : generator that `compute` draws from; afterwards it has the state the stage left
    """
    if store is None:
        return compute()
    value = store.load(name, kind, rng)
    if value is None:
        store.save(name, compute(), rng)
        # Loaded again: arrays come back without gaps in memory, on which last bits depend.
        value = store.load(name, kind, rng)
    if value is None:
        raise FileNotFoundError(f"The checkpoint of stage {name!r} vanished while it was in use.")
    return value
