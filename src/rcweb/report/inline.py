"""Parts of a page that loads nothing: files of the package, and the hash of a script."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files


def asset(name: str) -> str:
    """The text of a file in ``assets``."""
    return (files("rcweb.report") / "assets" / name).read_text(encoding="utf-8")


def policy(script: str) -> str:
    """A content security policy that forbids every request and every script but this one; pictures
    only from the page itself: a figure is saved as PNG by way of one."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    inside = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return f"{inside}; script-src 'sha256-{digest}'"
