"""The ``rcweb`` command: from a file to a folder of results.

May import: everything, but heavy packages only when needed, so that ``rcweb --help`` starts fast.
Exports: `main`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    from rcweb.cli import interrupt

    # Before the slow imports: Ctrl-C during them must not show a traceback.
    interrupt.listen()
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        sys.stderr.write("\nrcweb: interrupted.\n")
        code = interrupt.INTERRUPTED
    interrupt.shut_down(code)
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    try:
        # click is an extra; without it users need a message, not a traceback.
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write("rcweb: the command line needs click: pip install 'rcweb[cli]'\n")
        return 4
    from rcweb.cli.app import run

    return run(arguments)
