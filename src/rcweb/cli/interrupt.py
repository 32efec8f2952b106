"""Ctrl-C, whenever it comes: a message, exit code 130, no traceback.

A KeyboardInterrupt can get lost: compiled packages turn it into an ImportError while they are
imported, and callbacks of C code print it and continue. So a handler records every interruption.
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

# A list: a signal handler may interrupt any code, and append is atomic.
_seen: list[int] = []


def listen() -> None:
    """Record interruptions from now on; where they are ignored, as in background jobs, still so."""
    # nohup and shells ignore the signal on purpose for background jobs; leave that.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _remember)


def seen() -> bool:
    """Whether there was an interruption."""
    return bool(_seen)


def check() -> None:
    """Raise a KeyboardInterrupt that got lost."""
    if _seen:
        raise KeyboardInterrupt


def shut_down(code: int) -> None:
    """Called last, so that an interruption while Python shuts down still gets its message."""
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
    """The message about `out` on an interruption: `before` until the folder is replaced."""
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
    # A replaced folder has another inode, even under the same name.
    return path.stat().st_ino if path.exists() else None
