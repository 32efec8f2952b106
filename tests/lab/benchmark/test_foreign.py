"""Foreign worlds: what the generators promise, and the scores on cases counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rcweb.lab.benchmark.fits import TableFit
from rcweb.lab.benchmark.foreign import (
    BINS,
    ForeignCell,
    calibration,
    foreign_cells,
    measure_foreign,
    score_world,
)
from rcweb.lab.benchmark.foreign_nulls import NULLS
from rcweb.lab.benchmark.foreign_page import foreign_parts, headline_lines
from rcweb.lab.benchmark.foreign_worlds import WORLDS, World, autoregressive, with_noise

SIZES = (60, 80, 6)


def draw(name: str, level: float, M: int = 60, N: int = 80, P: int = 6, seed: int = 0) -> World:
    """One table."""
    return {**WORLDS, **NULLS}[name](np.random.default_rng(seed), M, N, P, level)


@pytest.mark.parametrize("cell", foreign_cells(), ids=lambda cell: cell.panel)
def test_worlds_have_data_and_truth_that_fit(cell: ForeignCell) -> None:
    """Finite tables of the sizes asked for; every true row has edges; nulls have no rows."""
    if cell.world == "null: permuted real table":
        pytest.skip("needs the real tables")
    small = replace(cell, n_samples=12, n_features=120)
    world = small.draw(0)
    assert world.data.shape == (12, 120)
    assert np.isfinite(world.data).all()
    assert world.rows.shape == world.edges.shape
    assert world.edges.any(axis=1).all()
    assert (len(world.rows) == 0) == cell.world.startswith("null")
    assert np.array_equal(world.data, small.draw(0).data)
    assert not np.array_equal(world.data, small.draw(1).data)


def test_every_world_is_in_the_plan_with_both_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the permuted real table, where the data are."""
    monkeypatch.setenv("RCWEB_DATA", "somewhere")
    assert {cell.world for cell in foreign_cells()} == {*WORLDS, *NULLS}
    keys = [cell.key for cell in (*foreign_cells(), *foreign_cells("auto"))]
    assert len(set(keys)) == len(keys)


def test_background_is_everywhere_and_narrower() -> None:
    """Strong entries have sd 1, the others the level; none is zero."""
    world = draw("background", 0.2, N=2000)
    assert (world.rows != 0).all()
    assert world.rows[world.edges].std() == pytest.approx(1, rel=0.1)
    assert world.rows[~world.edges].std() == pytest.approx(0.2, rel=0.05)


def test_twins_and_nested_rows() -> None:
    """Twins share their targets and correlate; nested targets lie inside."""
    world = draw("twins", 0.9, N=5000)
    assert np.array_equal(world.edges[0], world.edges[1])
    targets = world.edges[0]
    r = np.corrcoef(world.rows[:2, targets])[0, 1]
    assert r == pytest.approx(0.9, abs=0.05)
    inside = draw("nested", 0.5, N=5000).edges
    assert not (inside[1] & ~inside[0]).any()
    assert inside[1].sum() / inside[0].sum() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(("name", "level"), [("one-hot", 0.0), ("mixture", 0.5)])
def test_activities_sum_to_a_constant(name: str, level: float) -> None:
    """Noise alone is cut at zero; over the targets the activities sum to one."""
    world = draw(name, level, M=200, N=4000)
    assert world.data.min() == 0
    once = world.edges.sum(axis=0) == 1
    # Scaled to unit weights, a variable with one regulator is that regulator's activity.
    R = np.array(
        [
            (world.data[:, once & edges] / row[once & edges]).mean(axis=1)
            for row, edges in zip(world.rows, world.edges)
        ]
    )
    assert R.sum(axis=0).mean() == pytest.approx(1, abs=0.25)
    assert R.sum(axis=0).std() < 0.15
    assert (world.rows[world.edges] > 0).all()


def test_activities_correlate_as_asked() -> None:
    """All pairs in one world, pairs of two in the other."""
    for name, same, other in (("correlated", 0.7, 0.7), ("correlated pairs", 0.95, 0.0)):
        world = draw(name, same, M=4000, N=400)
        r = np.corrcoef((world.data @ np.linalg.pinv(world.rows)).T)
        assert r[0, 1] == pytest.approx(same, abs=0.06)
        assert r[0, 2] == pytest.approx(other, abs=0.06)


def test_noise_has_the_level_and_memory_asked_for() -> None:
    """A third of the signal's sd; autoregressive noise has its coefficient and unit variance."""
    rng = np.random.default_rng(0)
    clean = rng.standard_normal((300, 200)) * 5
    noise = with_noise(rng, clean, ratio=1 / 3) - clean
    assert noise.std() == pytest.approx(5 / 3, rel=0.05)
    E = autoregressive(rng, 4000, 20, 0.8)
    assert E.var() == pytest.approx(1, abs=0.1)
    assert np.mean(E[1:] * E[:-1]) == pytest.approx(0.8, abs=0.1)


def test_very_sparse_rows_and_blocks() -> None:
    """10 to 20 targets whatever N; pairs of rows cover one block, and all blocks the table."""
    assert set(draw("very sparse rows", 0.0, N=3000, P=50).edges.sum(axis=1)) <= set(range(10, 21))
    edges = draw("rotation-invariant blocks", 0.0).edges
    assert np.array_equal(edges[0], edges[1])
    assert (edges.sum(axis=0) == 2).all()


def test_nulls_keep_what_their_names_say() -> None:
    """Permuting keeps each variable's values, rotating the spectrum; only tails are heavy."""
    rotated, permuted = (
        draw(f"null: {kind} planted table", 0.0).data for kind in ("rotated", "permuted")
    )
    planted = draw("few samples", 0.0).data
    assert np.array_equal(np.sort(permuted, axis=0), np.sort(planted, axis=0))
    assert not np.array_equal(permuted, planted)
    spectra = [np.linalg.svd(table, compute_uv=False) for table in (rotated, planted)]
    assert spectra[0] == pytest.approx(spectra[1])
    heavy, light = (draw(f"null: {name}", 3.0).data for name in ("heavy tails", "white"))
    assert np.mean(heavy**4) / np.mean(heavy**2) ** 2 > 2 * np.mean(light**4)


def truth() -> World:
    """Two rows of four variables with two edges each."""
    rows = np.array([[1.0, 2, 0, 0], [0, 0, 1, -1]])
    return World(np.zeros((3, 4)), rows, rows != 0)


def found(weights: Any, **more: object) -> TableFit:
    """What a method might have found."""
    C = np.array(weights)
    facts = {"scores": C, "weights": C, "edges": C != 0, "activities": np.zeros((3, len(C)))}
    return TableFit(**{**facts, **more})  # type: ignore[arg-type]


def test_scores_counted_by_hand() -> None:
    """Row 0 is found with a false edge, row 1 up to sign; a third row is false throughout."""
    certified = np.array([True, False, True])
    it = found([[1, 2, 0.1, 0], [0, 0, -2, 2], [0, 1, 0, 1]], certified=certified)
    row = score_world(it, truth())
    first = np.corrcoef([1, 2, 0.1, 0], [1, 2, 0, 0])[0, 1]
    assert row["rho"] == pytest.approx((first + 1) / 2, abs=1e-5)
    assert (row["n_found"], row["n_true"], row["n_components_found"]) == (2, 2, 3)
    assert row["fdr"] == pytest.approx(3 / 7, abs=1e-5)
    assert row["recall"] == 1.0
    assert (row["n_certified"], row["n_certified_right"], row["n_edges_certified"]) == (2, 1, 5)


def test_a_row_found_twice_counts_once() -> None:
    """One-to-one: the missed row has rho 0."""
    row = score_world(found([[1, 2, 0, 0], [1, 2, 0, 0]]), truth())
    assert row["n_found"] == 1
    assert row["recall"] == 0.5
    assert row["fdr"] == 0.5


def test_nothing_found_scores_zero() -> None:
    """A method may find no regulator at all."""
    it = found(np.zeros((0, 4)), certified=np.zeros(0, bool), probability=np.zeros((0, 4)))
    row = score_world(it, truth())
    names = ("rho", "n_found", "fdr", "recall", "n_certified_right", "calibration_error")
    assert [row[name] for name in names] == [0] * 6


def test_nulls_count_edges_and_certified_rows() -> None:
    """There is nothing to correlate with."""
    world = World(np.zeros((3, 4)), np.zeros((0, 4)), np.zeros((0, 4), bool))
    row = score_world(found([[1, 0, 0, 1]], certified=np.array([True])), world)
    assert (row["n_edges"], row["n_certified"], row["n_edges_certified"]) == (2, 1, 2)
    assert "rho" not in row


def test_calibration_bins() -> None:
    """Of four entries at .9 three are true, the one at 1 is; zeros stay out of the error."""
    p = np.array([[0.9, 0.9, 0.9, 0.9, 1.0, 0.0]])
    true = np.array([[True, True, True, False, True, True]])
    row = calibration(p, true)
    assert row["calibration"]["n"] == [1, 0, 0, 0, 4, 0, 1]
    assert row["calibration"]["true"] == [1, 0, 0, 0, 0.75, 0, 1]
    assert row["calibration_error"] == pytest.approx(4 * 0.15 / 5)
    assert len(row["calibration"]["n"]) == len(BINS) - 1


def test_measure_and_page() -> None:
    """Two methods through a world and a null, to the tables of the plan."""
    cells = (
        ForeignCell("foreign", "background 0.1", "background", 0.1, *SIZES),
        ForeignCell("foreign", "null: white", "null: white", 0.0, *SIZES),
    )
    rows = []
    for cell in cells:
        for method in ("fastica", "rcweb"):
            facts = {"panel": cell.panel, "asked": cell.asked, "method": method, "seed": 0}
            rows.append({**facts, "status": "ok", **measure_foreign(cell, method, 0)})
    table = pd.DataFrame(rows)
    line = headline_lines(table).set_index("method")
    assert line.at["fastica", "rho less FastICA's, worst world"] == 0
    assert line.at["fastica", "greatest"] == 1
    assert line.at["rcweb", "certified in nulls"] >= 0
    assert np.isnan(line.at["fastica", "certified in nulls"])
    assert sum("background 0.1" in part for part in foreign_parts(table)) == 1
