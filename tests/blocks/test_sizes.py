"""Memory that does not grow with the number of samples; the sizes that docs/scale.md promises."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from rcweb.lab.benchmark.scale import ScaleCell, largest_cell, sparse_cells

MEASURE = """
import json, sys
from rcweb.lab.benchmark.scale import ScaleCell, measure_scale
# Compile first: the compiler's memory is not the fit's.
measure_scale(ScaleCell("scale", "M", 3000, 60, 3), "rcweb", 0)
cell = json.loads(sys.argv[1])
print(json.dumps(measure_scale(ScaleCell(**cell), "rcweb", 0)))
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")


def measure(cell: ScaleCell) -> dict[str, Any]:
    """In a process of its own, whose peak is its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, json.dumps(vars(cell))],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_memory_does_not_grow_with_samples() -> None:
    """A table of 480 MB is read once, in less than half of its size, libraries aside."""
    row = measure(ScaleCell("scale", "M", 200_000, 300, 5))
    assert row["passes"] == 1
    assert row["peak_mb"] - row["held_mb"] < 240, row
    assert row["rho"] > 0.99


@pytest.mark.slow
def test_sixteen_gigabytes_in_two() -> None:
    """2,000,000 x 1,000 numbers, drawn as they are read: one pass, less than 2 GB."""
    row = measure(largest_cell())
    assert row["passes"] <= 2, row
    assert row["peak_mb"] < 2000, row
    assert row["rho"] > 0.99, row


@pytest.mark.slow
def test_hundred_thousand_cells_and_twenty_thousand_genes() -> None:
    """100,000 x 20,000, 5 % filled, P = 50: three passes, within 4 GB."""
    row = measure(sparse_cells()[-1])
    assert row["peak_mb"] < 4000, row
    assert row["passes"] <= 3, row
    assert row["rho"] > 0.99, row
