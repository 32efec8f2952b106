"""The ``rcweb`` command: the whole line from a file to a folder of results.

May import: everything, but only when it is needed: ``rcweb --help`` waits for nothing heavy.
Exports: `main`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    try:
        import click  # noqa: F401
    except ImportError:
        sys.stderr.write("rcweb: the command line needs click: pip install 'rcweb[cli]'\n")
        sys.exit(4)
    from rcweb.cli.app import run

    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))
