"""The plan "scale": tables drawn as they are read, what is measured of them, tables and figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from rcweb.lab.benchmark.outputs import write_outputs
from rcweb.lab.benchmark.plans import get_plan, tasks_of
from rcweb.lab.benchmark.scale import (
    SCALE_METHODS,
    ScaleCell,
    growing_cells,
    measure_scale,
    sparse_cells,
)
from rcweb.lab.benchmark.scale_data import PIECE, PlantedRows
from rcweb.lab.benchmark.store import Store


@pytest.mark.parametrize("filled", [1.0, 0.1])
def test_any_range_of_rows_can_be_read(filled: float) -> None:
    """Rows do not depend on how they are asked for; another seed gives others."""
    rows = PlantedRows(2 * PIECE + 100, 30, 3, filled=filled)

    def read(start: int, stop: int) -> np.ndarray:
        found = rows.read(start, stop)
        return found.toarray() if sparse.issparse(found) else found

    whole = read(0, rows.n_samples)
    assert whole.shape == rows.shape
    for start, stop in ((0, 10), (PIECE - 5, PIECE + 5), (PIECE, 2 * PIECE), (2100, 2148)):
        np.testing.assert_array_equal(read(start, stop), whole[start:stop])
    other = PlantedRows(100, 30, 3, filled=filled, seed=1).read(0, 100)
    assert not np.array_equal(other.toarray() if sparse.issparse(other) else other, whole[:100])


def test_sparse_tables_are_filled_as_said() -> None:
    """Share of stored entries, and how many of them no regulator explains."""
    X = PlantedRows(2000, 1000, 50, filled=0.05).read(0, 2000)
    assert X.nnz / X.shape[0] / X.shape[1] == pytest.approx(0.05, rel=0.1)
    assert X.data.min() > 0


@pytest.mark.parametrize("method", SCALE_METHODS)
@pytest.mark.parametrize(("size", "filled"), [((100, 5), 1.0), ((1000, 10), 0.05)])
def test_measurements(method: str, size: tuple[int, int], filled: float) -> None:
    """Every quantity of the plan, for both methods and both kinds of table."""
    row = measure_scale(ScaleCell("scale", "M", 2500, *size, filled), method, 0)
    assert row["passes"] >= 1
    assert row["peak_mb"] >= row["held_mb"] > 0
    assert row["rho"] > 0.8
    assert row["seconds"] > 0
    with pytest.raises(ValueError, match="does not read tables in blocks"):
        measure_scale(ScaleCell("scale", "M", 2500, 100, 5), "ksvd", 0)


def test_plan_and_its_quick_form() -> None:
    """All sizes vary; the quick form keeps small tables of the first block."""
    tasks = tasks_of(get_plan("scale"))
    assert {task.cell for task in tasks} >= {*growing_cells(), *sparse_cells()}
    quick = tasks_of(get_plan("scale"), quick=True)
    assert 0 < len(quick) < len(tasks)
    assert max(task.cell.entries for task in quick) <= 2e7


def test_tables_and_figure(tmp_path: Path) -> None:
    """Time that grows like M gives the exponent 1; memory that stays, 0."""
    pytest.importorskip("matplotlib")
    from dataclasses import asdict

    store = Store(tmp_path / "rows.jsonl")
    for cell in growing_cells():
        row = {"seconds": cell.n_samples / 1e4, "cpu_seconds": 1.0, "peak_mb": 400, "held_mb": 300}
        store.describe(cell.key, {"label": cell.label, **asdict(cell)})
        store.append(
            {
                "cell": cell.key,
                "method": "rcweb",
                "seed": 0,
                "threads": 1,
                "status": "ok",
                "passes": 1,
                "rho": 1.0,
                **row,
            }
        )
    write_outputs("scale", tmp_path)
    page = (tmp_path / "summary.md").read_text()
    assert "| M | rcweb | seconds | 1 " in page or "| M | rcweb | seconds | 1.000" in page
    assert "| M | rcweb | peak_mb | 0 " in page or "| M | rcweb | peak_mb | 0.000" in page
    assert (tmp_path / "scale.png").stat().st_size > 10_000
