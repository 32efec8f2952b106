"""Limits that hold before a stranger's file is unpacked: a small file may claim to be enormous."""

from __future__ import annotations

from rcweb.storage.errors import TableError
from rcweb.storage.memory import available_memory, show_size

# Text of numbers is longer than the numbers: up to this many bytes of it per byte of memory.
TEXT_PER_MEMORY = 4


def check_fits(n_bytes: int, what: str) -> None:
    """Raise `TableError` if `n_bytes`, which `what` would take, are more than the free memory."""
    free = available_memory()
    if free is not None and n_bytes > free:
        raise TableError(
            f"{what} would take {show_size(n_bytes)} of memory, {show_size(free)} are free."
        )


def unpackable(most: int) -> int:
    """How much an archive may unpack to in memory: `most`, or what is free if that is less."""
    free = available_memory()
    return most if free is None else min(most, free)


def text_limit() -> int | None:
    """How many bytes of text a packed file may hold; None if the memory is not known."""
    free = available_memory()
    return None if free is None else TEXT_PER_MEMORY * free
