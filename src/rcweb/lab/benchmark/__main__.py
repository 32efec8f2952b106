"""``python -m rcweb.lab.benchmark PLAN [--quick]``: run a plan from the command line."""

from __future__ import annotations

import argparse
import sys

from rcweb.lab.benchmark import METHODS, PLANS, run
from rcweb.lab.datasets import DatasetError


def main(arguments: list[str] | None = None) -> int:
    """Parse the arguments, run, print the folder of the results."""
    parser = argparse.ArgumentParser(prog="python -m rcweb.lab.benchmark", description=__doc__)
    parser.add_argument("plan", choices=PLANS)
    parser.add_argument("--quick", action="store_true", help="a few cells, within two minutes")
    parser.add_argument("--methods", nargs="+", choices=METHODS, metavar="METHOD")
    parser.add_argument("--seeds", type=int, help="how many, from 0")
    parser.add_argument("--out", help="folder of the results")
    parser.add_argument("--jobs", type=int, default=1, help="fits at the same time")
    parser.add_argument("--retry", action="store_true", help="run failed rows again")
    given = parser.parse_args(arguments)
    try:
        folder = run(
            given.plan,
            quick=given.quick,
            methods=given.methods,
            seeds=given.seeds,
            out=given.out,
            n_jobs=given.jobs,
            retry=given.retry,
        )
    except DatasetError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 2
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
