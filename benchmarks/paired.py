"""Is accuracy on planted cells what it was? The present engine beside the stored results, paired.

    python benchmarks/paired.py --seeds 1

Draws the planted problems of figures 1 to 3 (P <= 60 in figure 2, M >= 100) and of the other
worlds again, fits them, and prints accuracy now and in `benchmarks/results`, seed by seed.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from rcweb import RCweb
from rcweb.lab.benchmark.scenarios import AUTHOR, Cell, figure1, figure2, figure3, worlds
from rcweb.lab.metrics import score_network

RESULTS = Path(__file__).parent / "results"


def stored() -> dict[tuple[str, int], float]:
    """Accuracy of rcweb in the stored rows, by cell and seed."""
    found = {}
    for path in RESULTS.glob("*/rows.jsonl"):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            if row.get("method") == "rcweb" and "rho" in row:
                found[row["cell"], row["seed"]] = row["rho"]
    return found


def cells() -> list[Cell]:
    """Planted cells that take seconds each."""
    least = {"A": 150, "B": 100}  # below, fits are sampled and take long
    three = [c for c in figure3(AUTHOR, "", "AB") if c.n_samples >= least[c.panel]]
    two = [c for c in figure2(AUTHOR, "", "AB") if c.n_regulators <= 60]
    return [*figure1(AUTHOR, "author"), *three, *two, *worlds()]


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    seeds = parser.parse_args().seeds
    before, differences = stored(), []
    for cell in cells():
        for seed in range(seeds):
            if (cell.key, seed) not in before:
                continue
            truth = cell.draw(seed)
            model = RCweb(cell.n_regulators, random_state=seed).fit(truth.data)
            now = score_network(model.weights_, truth.network).rho
            differences.append(now - before[cell.key, seed])
            print(f"{cell.label:45s} seed {seed}: {now:.4f}, was {before[cell.key, seed]:.4f}")
    print(
        f"{len(differences)} fits: difference {np.mean(differences):+.4f} on average, "
        f"{np.min(differences):+.4f} to {np.max(differences):+.4f}"
    )


if __name__ == "__main__":
    main()
