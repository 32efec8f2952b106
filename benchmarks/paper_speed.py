"""How much faster the published search is than its slow twin and than the author's program.

    python benchmarks/paper_speed.py [--seeds 3] [--no-twin]

Processor time of one thread for all P columns, with the mean degree given, repeats searched again,
compilation outside the clock and the singular value decomposition in no clock. The author's
seconds are those of the author's own program under GNU Octave on data from the same generators (a
busy machine: orders of magnitude only); that program neither notices nor repeats a repeated
column. The twin (tests/reference.py) is timed on its first column, without repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rcweb.engine.basis import Basis, truncated_svd
from rcweb.engine.paper.column import Problem, SwitchBack, continue_column, start_column
from rcweb.engine.paper.columns import find_columns
from rcweb.lab.simulate import simulate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import reference

N = 1000


@dataclass(frozen=True)
class Cell:
    """One setting of the paper's figures and the author's seconds (Octave, mean of 3 seeds)."""

    figure: str
    network: str
    M: int
    P: int
    noise: float
    density: float
    author_s: float


CELLS = (
    Cell("2A", "author_poisson", 2000, 30, 0.5, 0.274, 1.465),
    Cell("2A", "author_poisson", 2000, 60, 0.5, 0.263, 3.055),
    Cell("2B", "author_powerlaw", 2000, 30, 0.1, 0.406, 1.710),
    Cell("2B", "author_powerlaw", 2000, 60, 0.1, 0.409, 5.370),
    Cell("3A", "author_poisson", 50, 30, 0.5, 0.226, 1.338),
    Cell("3A", "author_poisson", 300, 30, 0.5, 0.226, 1.107),
    Cell("3B", "author_powerlaw", 50, 30, 0.1, 0.407, 1.733),
    Cell("3B", "author_powerlaw", 200, 30, 0.1, 0.406, 1.740),
    Cell("3B", "author_powerlaw", 800, 30, 0.1, 0.411, 1.958),
)


def planted(cell: Cell, seed: int) -> tuple[Basis, int]:
    """The basis of simulated data and the true mean degree."""
    # The author's Poisson generator adds one more regulator to each variable.
    density = (cell.density - 1 / cell.P) / (1 - 1 / cell.P)
    sim = simulate(
        cell.M,
        N,
        cell.P,
        network=cell.network,
        density=density,
        weights="author",
        noise=cell.noise,
        noise_convention="author",
        random_state=seed,
    )
    return truncated_svd(sim.data, cell.P), round(sim.edges.sum() / cell.P)


def seconds(run: Callable[[], object], repeats: int) -> float:
    """Least processor time of this thread."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return min(times)


def measure(cell: Cell, seed: int, with_twin: bool) -> tuple[float, float, int]:
    """Seconds for all columns, ratio to the twin for one column (or nan), number of searches."""
    basis, degree = planted(cell, seed)
    problem = Problem(basis.V, basis.s, basis.noise, degree)
    switch = SwitchBack()
    searches = sum(find_columns(problem, switch).searches)
    fast = seconds(lambda: find_columns(problem, switch), 3)
    if not with_twin:
        return fast, np.nan, searches
    one = seconds(lambda: _first_column(problem, switch), 5)
    twin = seconds(lambda: reference.find_columns(basis.V, 10, degree, count=1), 1)
    return fast, twin / one, searches


def _first_column(problem: Problem, switch: SwitchBack) -> object:
    P = problem.V.shape[1]
    return continue_column(problem, np.empty((P, 0)), switch, start_column(problem, np.eye(P)))


def main() -> None:
    """Print a row for each cell."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-twin", action="store_true", help="skip the slow twin")
    options = parser.parse_args()
    print("figure    M   P  searches  seconds  author/ours  scaled to P searches  twin/ours")
    for cell in CELLS:
        rows = [measure(cell, seed, not options.no_twin) for seed in range(options.seeds)]
        fast, twin, searches = np.mean(rows, axis=0)
        # The author's program makes P searches: what P of ours would take if all took the same
        # time; scaled, not measured.
        once = cell.author_s / (fast * cell.P / searches)
        print(
            f"{cell.figure:>6} {cell.M:4d} {cell.P:3d} {searches:9.1f} {fast:8.3f} "
            f"{cell.author_s / fast:12.1f} {once:21.1f} {twin:10.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
