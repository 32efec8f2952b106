"""Plans ask for what the captions of the paper say, each fit once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rcweb.lab.benchmark import PLANS
from rcweb.lab.benchmark.organisms import OrganismCell
from rcweb.lab.benchmark.plans import get_plan, record_of, tasks_of
from rcweb.lab.benchmark.scenarios import AUTHOR, Cell, claims, figure1, figure3


@pytest.mark.parametrize("name", PLANS)
def test_every_task_once_with_a_unique_name(name: str) -> None:
    """Rows are found again by key and read by label: neither may stand for two cells."""
    tasks = tasks_of(get_plan(name))
    assert len({t.key for t in tasks}) == len(tasks)
    cells = {t.cell for t in tasks}
    assert len({c.key for c in cells}) == len({c.label for c in cells}) == len(cells)


@pytest.mark.parametrize("name", PLANS)
def test_quick_is_small(name: str) -> None:
    """Quick plans have at most eight cells, one seed, and no slow method."""
    tasks = tasks_of(get_plan(name), quick=True)
    assert 1 <= len({t.cell.key for t in tasks}) <= 8
    assert {t.seed for t in tasks} == {0}
    assert not any(record_of(t.method, t.cell).slow for t in tasks)


def test_fits_on_the_same_data_follow_each_other() -> None:
    """The worker draws the data of a cell and seed once: their fits must be neighbours."""
    tasks = tasks_of(get_plan("fig1"), methods=["fastica", "ksvd"])
    groups = [(t.threads, t.cell.key, t.seed) for t in tasks]
    changes = sum(a != b for a, b in pairwise(groups))
    assert changes == len(set(groups)) - 1


def test_methods_and_seeds_replace_those_of_the_plan() -> None:
    """A user may ask for one method and her own seeds."""
    tasks = tasks_of(get_plan("fig3b"), methods=["empca"], seeds=[7, 9])
    assert {t.method for t in tasks} == {"empca"}
    assert {t.seed for t in tasks} == {7, 9}
    assert {t.seed for t in tasks_of(get_plan("fig3b"), seeds=2)} == {0, 1}


def test_unknown_names_are_listed() -> None:
    """Misspelt plans and methods are refused before anything runs."""
    with pytest.raises(ValueError, match="fig1, fig2"):
        get_plan("figure1")
    with pytest.raises(ValueError, match="fastica"):
        tasks_of(get_plan("fig1"), methods=["fast-ica"])


def test_figure_1_is_the_caption() -> None:
    """N = 500, M = 280, out-degree about 0.1 N plus the author's additional regulator."""
    sim = figure1(AUTHOR, "author")[-1].draw(0)
    assert sim.data.shape == (280, 500)
    assert sim.network.shape == (100, 500)
    assert sim.edges.mean() == pytest.approx(0.11, abs=0.01)
    assert np.abs(sim.network).max() <= 0.5


def test_figure_3b_is_the_caption() -> None:
    """Power-law network of mean out-degree 0.41 N, at M = 50 to 800."""
    cells = figure3(AUTHOR, "", "B")
    assert {c.n_samples for c in cells} == {50, 100, 200, 400, 800}
    assert cells[0].draw(0).edges.mean() == pytest.approx(0.41, abs=0.02)


def test_claims_have_no_noise() -> None:
    """The abstract's claims are noise-free: data of exactly rank P."""
    for cell in claims():
        sim = cell.draw(0)
        np.testing.assert_array_equal(sim.data, sim.activities @ sim.network)


def test_keys_change_with_every_argument() -> None:
    """Changing a cell must not reuse the rows of the old one."""
    base = Cell("f", "p", 10, 20, 3)
    changed = [
        Cell("f", "p", 10, 20, 3, network="hubs"),
        Cell("f", "p", 10, 20, 3, density=0.2),
        Cell("f", "p", 10, 20, 3, noise=0.2),
        Cell("f", "p", 10, 20, 3, asked="auto"),
        Cell("f", "p", 11, 20, 3),
    ]
    assert len({c.key for c in [base, *changed]}) == len(changed) + 1


def test_a_method_that_needs_p_is_left_out_where_p_is_not_told() -> None:
    """Named on the command line, FastICA runs on the cells that tell it P, and only there."""
    tasks = tasks_of(get_plan("foreign"), methods=["fastica", "rcweb"], seeds=1)
    asked = {
        name: {t.cell.asked for t in tasks if t.method == name} for name in ("fastica", "rcweb")
    }
    assert asked == {"fastica": {"known"}, "rcweb": {"known", "auto"}}


def test_real_plan_names_tables_below_one_folder() -> None:
    """Real cells hold relative paths: the folder comes from the environment."""
    cells = {t.cell for t in tasks_of(get_plan("organisms"))}
    assert all(isinstance(c, OrganismCell) and not c.table.startswith("/") for c in cells)
