"""Ctrl-C, whenever it comes: a message, exit code 130, no traceback.

A KeyboardInterrupt may be lost on its way up: compiled packages turn it into an ImportError while
they are imported, and callbacks of C code print it and go on. So it is remembered when it comes.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

INTERRUPTED = 130

_seen: list[int] = []


def listen() -> None:
    """From now on an interruption is remembered; where it is ignored, as in jobs, it stays so."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)


def seen() -> bool:
    """Whether there was an interruption."""
    return bool(_seen)


def check() -> None:
    """Raise a KeyboardInterrupt that was lost on its way up."""
    if _seen:
        raise KeyboardInterrupt


def shut_down(code: int) -> None:
    """The last thing before Python ends: while it does so, an interruption is told too."""
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    if signal.getsignal(signal.SIGINT) is _remember:
        signal.signal(signal.SIGINT, _leave)
    if code == INTERRUPTED:
        # Python would end by the signal, without a code, if a KeyboardInterrupt ever passed
        # through code that is compiled from text, as that of dataclasses.
        atexit._run_exitfuncs()
        os._exit(code)


def advice(out: Path, before: str) -> Callable[[], str]:
    """What to say of the folder `out` on an interruption: `before`, until it is replaced."""
    found = _identity(out)
    return lambda: before if _identity(out) == found else f"The new result is complete, in {out}."


def _remember(number: int, frame: Any) -> None:
    _seen.append(number)
    raise KeyboardInterrupt


# Modules lose their names while Python shuts down, so the functions are bound here.
def _leave(number: int, frame: Any, write: Any = os.write, leave: Any = os._exit) -> None:
    write(2, b"\nrcweb: interrupted, after the work was done.\n")
    leave(INTERRUPTED)


def _identity(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None
