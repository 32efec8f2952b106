"""Worlds of which every property is drawn at random, and the plan of them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from rcweb.lab.benchmark import random_worlds
from rcweb.lab.benchmark.foreign import measure_foreign
from rcweb.lab.benchmark.foreign_page import random_lines, random_parts
from rcweb.lab.benchmark.page import render
from rcweb.lab.benchmark.plans import get_plan, tasks_of
from rcweb.lab.benchmark.random_worlds import RandomCell, random_cells, random_world


def world(number: int) -> tuple[random_worlds.World, str]:
    return random_world(np.random.default_rng([number, 5]))


@pytest.mark.parametrize("number", range(12))
def test_a_world_is_finite_and_has_its_truth(number: int) -> None:
    """Sizes within their ranges, five targets at least, no edge of a variable that never varies;
    edges are where weights are largest on the whole."""
    drawn, about = world(number)
    (M, N), P = drawn.data.shape, len(drawn.rows)
    assert about.startswith(f"{M} x {N}, {P} regulators")
    assert 3 <= P <= 40
    assert 100 <= N <= 2000
    assert 25 <= M <= 600
    assert np.isfinite(drawn.data).all()
    assert drawn.rows.shape == drawn.edges.shape == (P, N)
    assert not drawn.edges[:, drawn.data.std(axis=0) == 0].any()
    assert (drawn.edges.sum(axis=1) >= 3).all()
    varies = drawn.data.std(axis=0) > 0
    inside, outside = drawn.edges & varies, ~drawn.edges & varies
    assert np.abs(drawn.rows[inside]).mean() > 2 * np.abs(drawn.rows[outside]).mean()


def test_true_weights_are_in_units_of_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in other units has its weights in them; one left as it is has them unchanged."""
    units = np.arange(1.0, 2001.0)
    monkeypatch.setattr(random_worlds, "PLAIN_SHARE", 0.0)
    rows = []
    for measured in (lambda rng, X: X, lambda rng, X: X * units[: X.shape[1]] + 7):
        monkeypatch.setattr(random_worlds, "MEASUREMENTS", {"one": measured})
        rows.append(world(3)[0].rows)
    np.testing.assert_allclose(rows[1], rows[0] * units[: rows[0].shape[1]])


def test_every_kind_is_drawn() -> None:
    """Among the worlds of the plan, and most tables are left as they are."""
    about = [cell.about(0) for cell in random_cells()]
    for kinds in (
        random_worlds.KINDS_OF_WEIGHTS,
        random_worlds.KINDS_OF_ACTIVITIES,
        random_worlds.KINDS_OF_NOISE,
        random_worlds.MEASUREMENTS,
    ):
        for kind in kinds:
            assert any(kind in text for text in about), kind
    plain = np.mean([text.endswith("as it is") for text in about])
    assert 0.3 < plain < 0.65


def test_a_number_is_a_world_and_both_questions_share_it() -> None:
    known, auto = RandomCell("random", "world 3", 3), RandomCell("random", "world 3", 3, "auto")
    np.testing.assert_array_equal(known.draw(0).data, auto.draw(0).data)
    assert known.key != auto.key
    other = RandomCell("random", "world 4", 4).draw(0)
    assert known.draw(0).data.shape != other.data.shape
    assert not np.array_equal(known.draw(0).data, known.draw(1).data)


def test_another_seed_is_asked_for_its_own_number() -> None:
    """Tables of one world differ in everything, also in their number of regulators."""
    cell = RandomCell("random", "world 1", 1)
    first, second = (len(cell.draw(seed).rows) for seed in (0, 1))
    assert first != second, "two tables of the same number would not tell"
    row = measure_foreign(cell, "fastica", 1)
    assert row["n_components_found"] == row["n_true"] == second
    assert f"{second} regulators" in row["about"]


def test_the_plan_asks_rcweb_both_questions() -> None:
    tasks = tasks_of(get_plan("random"), methods=["fastica", "rcweb"])
    assert len(tasks) == 3 * random_worlds.N_WORLDS
    assert {(task.method, task.cell.asked) for task in tasks} == {
        ("fastica", "known"),
        ("rcweb", "known"),
        ("rcweb", "auto"),
    }


def test_rows_and_pages(tmp_path) -> None:
    """Two worlds measured, and what the pages say of them."""
    rows = []
    for number in (1, 44):
        for method, asked in (("fastica", "known"), ("rcweb", "known"), ("rcweb", "auto")):
            cell = RandomCell("random", f"world {number}", number, asked)
            facts = {"label": cell.label, **asdict(cell), "method": method, "seed": 0}
            rows.append({**facts, "status": "ok", **measure_foreign(cell, method, 0)})
    table = pd.DataFrame(rows)
    assert table["about"].nunique() == 2
    assert (
        table["n_true"] == [len(RandomCell("r", "", n).draw(0).rows) for n in table["number"]]
    ).all()
    lines = random_lines(table).set_index(["method", "asked"])
    fastica = lines.loc[("fastica", "known")]
    assert fastica["worlds"] == 2
    assert fastica["rho below FastICA's by > .01"] == 0
    ours = table[(table["method"] == "rcweb") & (table["asked"] == "known")]
    assert lines.loc[("rcweb", "known"), "rho"] == pytest.approx(ours["rho"].mean())
    text = "\n".join(random_parts(table))
    assert ours["about"].iloc[0] in text
    # A page asks for the table by name, and is told where the plan was not run.
    page = "<!-- table random -->\n<!-- end -->"
    assert "Not measured yet." in render(page, tmp_path)
