"""Errors and warnings for users, and how their messages name a place or a value."""

from __future__ import annotations

import sys
import warnings


class TableError(ValueError):
    """A table cannot be read as it stands; the message says where and what to do."""


class ModelError(ValueError):
    """A model file cannot be read, or should not be."""


def warn_user(message: str, kind: type[Warning]) -> None:
    """Warn at the line of the user, whatever path the call took through the package; scikit-learn
    wraps some methods."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and _is_inside(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, kind, stacklevel=level)


def _is_inside(module: str) -> bool:
    return module.partition(".")[0] in ("rcweb", "sklearn")


def place(line: int | None = None, column: int | None = None, name: str | None = None) -> str:
    """Words for a place in a file: ``line 3, column 5 ('lexA')``."""
    words = [f"line {line}"] if line is not None else []
    if column is not None:
        words.append(f"column {column}" + (f" ({shorten(name)})" if name else ""))
    return ", ".join(words)


def reason(error: BaseException) -> str:
    """Another library's error in at most 200 characters, on one line, without its full stop."""
    return " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__


def shorten(text: object, limit: int = 60) -> str:
    """``repr`` of what the user wrote, cut so that one bad cell cannot fill the screen."""
    shown = repr(text if not isinstance(text, str) else text[: limit + 1])
    return shown if len(shown) <= limit + 2 else shown[:limit] + "...'"
