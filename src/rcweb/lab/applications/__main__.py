"""``python -m rcweb.lab.applications yeast|ecoli OUT [--no-compare] [--seed S]``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rcweb.lab.applications import ecoli, yeast
from rcweb.lab.datasets import DatasetError

APPLICATIONS = {"ecoli": ecoli.run, "yeast": yeast.run}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one application; the page is OUT/index.html."""
    parser = argparse.ArgumentParser(prog="python -m rcweb.lab.applications", description=__doc__)
    parser.add_argument("application", choices=sorted(APPLICATIONS))
    parser.add_argument("out", type=Path, help="folder for tables and the page")
    parser.add_argument("--no-compare", action="store_true", help="do not run FastICA beside it")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    try:
        result = APPLICATIONS[chosen.application](
            chosen.out, compare=not chosen.no_compare, random_state=chosen.seed
        )
    except DatasetError as error:
        print(error, file=sys.stderr)
        return 1
    print(result.comparison.to_string(index=False))
    print(result.figure5.head(10).to_string(index=False, max_colwidth=45))
    print(f"{result.seconds:.0f} s; {result.folder / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
