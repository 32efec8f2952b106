"""Constants of the engine are found, set wherever they are read, restored, and scored."""

from __future__ import annotations

import ast
from pathlib import Path

import pandas as pd
import pytest

import rcweb.engine
from rcweb.engine import edges, lone, outliers, spectrum
from rcweb.engine.search import found, peel
from rcweb.lab.benchmark import sensitivity
from rcweb.lab.benchmark.constants import (
    BUDGETS,
    CONTROL,
    FROM_ONE,
    GUARDS,
    NOT_VARIED,
    EngineConstant,
    engine_constants,
    names_read,
    set_to,
)
from rcweb.lab.benchmark.sensitivity import (
    PANEL,
    SensitivityCell,
    measure_sensitivity,
    sensitivity_cells,
)
from rcweb.lab.benchmark.sensitivity_page import constant_table, count_lines, sensitivity_lines

BY_NAME = {constant.name: constant for constant in engine_constants()}


def test_constants_of_the_engine_are_found() -> None:
    """Floats, integers, pairs assigned at once and tuples; not the published method's."""
    assert BY_NAME["EACH"] == EngineConstant("rcweb.engine.edges", "EACH", edges.EACH)
    assert BY_NAME["CERTAIN"].value == found.CERTAIN
    assert BY_NAME["WIDE"].value == peel.WIDE
    assert len(BY_NAME) == len(engine_constants())
    assert not any("paper" in constant.module for constant in engine_constants())


def test_lists_of_names_are_in_step() -> None:
    """Whoever removes or renames a constant finds its name here too."""
    assert {*NOT_VARIED, *BUDGETS, *GUARDS, *FROM_ONE, CONTROL} <= set(BY_NAME)
    kinds = [set(NOT_VARIED), BUDGETS, GUARDS, {CONTROL}]
    assert len(set().union(*kinds)) == sum(map(len, kinds))


def test_no_default_argument_holds_a_constant() -> None:
    """Evaluated when a module is loaded, it would keep the old value."""
    for path in Path(rcweb.engine.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.arguments):
                defaults = [d for d in (*node.defaults, *node.kw_defaults) if d is not None]
                names = {n.id for d in defaults for n in ast.walk(d) if isinstance(n, ast.Name)}
                assert not names & set(BY_NAME), path


def test_every_constant_has_a_comment() -> None:
    """At its end, or above it or above the constants it stands with."""
    for path in Path(rcweb.engine.__file__).parent.rglob("*.py"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for k, line in enumerate(lines):
            name = line.split(" = ")[0].split(",")[0]
            if name not in BY_NAME or "#" in line:
                continue
            above = k - 1
            while lines[above].split(" = ")[0] in BY_NAME and "#" not in lines[above]:
                above -= 1
            assert lines[above].startswith("#"), f"{path.name}: {name}"


def test_set_everywhere_and_restored() -> None:
    """WILD is defined in one module and imported by name into another."""
    usual = outliers.WILD
    seen = []

    def fail() -> None:
        with set_to(BY_NAME["WILD"], 7.0):
            seen.extend([outliers.WILD, lone.WILD])
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert seen == [7.0, 7.0]
    assert outliers.WILD == lone.WILD == usual


@pytest.mark.parametrize(
    ("name", "half", "double"),
    [
        ("SPLITS", 1, 4),
        ("FIRST", 1, 2),
        ("EACH", 5.0, 20.0),
        ("AGREED", 0.975, 0.9),
        ("MARGIN", 1.15, 1.6),
        ("WIDE", (0.75, 0.2), (3.0, 0.8)),
    ],
)
def test_halved_and_doubled(name: str, half: object, double: object) -> None:
    """Integers stay integers, at least 1; cosines and ratios keep their side of 1."""
    for factor, expected in ((0.5, half), (2.0, double)):
        value = BY_NAME[name].scaled(factor)
        assert value == pytest.approx(expected)
        assert type(value) is type(BY_NAME[name].value)


def test_names_of_called_functions() -> None:
    """A function that is not called does not count as a reader."""
    result, read = names_read(lambda: spectrum.signal_limit(101, 200))
    assert result == spectrum.SIGNAL_LIMIT * 100
    assert "SIGNAL_LIMIT" in read
    assert "STANDARD_ERRORS" not in read


def test_a_row_per_constant_factor_and_table() -> None:
    """A slow table has the constants of its parts only; what is not varied has no row."""
    cells = sensitivity_cells()
    assert len(set(cells)) == len(cells)
    varied = {constant.name for constant in engine_constants() if constant.kept is None}
    assert not varied & set(NOT_VARIED)
    first = [cell for cell in cells if cell.panel == "figure 1"]
    assert {cell.constant for cell in first} == {*varied, sensitivity.DEFAULTS}
    assert len(first) == 2 * len(varied) + 1
    sampled = {cell.constant for cell in cells if cell.panel == "correlated 0.8, sampled"}
    assert "NOISE_COUNT" in sampled
    assert "MARGIN" not in sampled


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    """Three constants on the cheapest planted table."""
    panel = "figure 3A"
    asked = [("", 1.0), ("EACH", 0.5), ("EACH", 2.0), ("FAR", 2.0), ("DEFLATION_STEPS", 2.0)]
    lines = []
    for name, factor in asked:
        cell = SensitivityCell("sensitivity", panel, name, factor)
        row = measure_sensitivity(cell, "rcweb", 0)
        about = {"panel": panel, "seed": 0, "constant": name, "factor": factor}
        lines.append({**about, "status": "ok", **row})
    return pd.DataFrame(lines)


def test_a_constant_that_matters_moves_the_score(rows) -> None:
    """Half of the rate allowed for a single edge draws fewer edges, of which fewer are false."""
    usual, half, _, far, unread = rows.to_dict("records")
    assert half["n_edges"] < usual["n_edges"]
    assert half["fdr_move"] < -0.005
    assert half["score_move"] == pytest.approx(half["score"] - usual["score"])
    assert not half["same"]
    # Read, but far from where it would decide.
    assert far["read"]
    assert far["same"]
    assert not unread["read"]
    assert unread["same"]
    assert unread["score_move"] == 0


def test_defaults_are_back_after_a_fit(rows) -> None:
    """The same bits as before."""
    again = sensitivity._scores("figure 3A", 0)
    assert again["bits"] == rows["bits"][0]


def test_tables_of_the_page(rows) -> None:
    """The constant that moves most stands first; one that fails counts as a score of 0."""
    failed = {"panel": "figure 3A", "seed": 0, "constant": "SAME", "factor": 2.0}
    table = constant_table(pd.concat([rows, pd.DataFrame([{**failed, "status": "failed"}])]))
    assert list(table["constant"][:2]) == ["SAME", "EACH"]
    assert table["score"][0] == -rows["score"][0]
    assert table["failed"][0] == 1
    unread = table[table["constant"] == "DEFLATION_STEPS"].iloc[0]
    assert (unread["read"], unread["changed"], unread["score"]) == (0, 0, 0)
    assert list(sensitivity_lines(table)["constant"])[1] == "`EACH`"
    counts = count_lines(table)
    assert counts["constants"].sum() == len(engine_constants())
    assert counts["change no bit"].sum() == 2


def test_only_our_method_has_these_constants() -> None:
    with pytest.raises(ValueError, match="fastica"):
        measure_sensitivity(SensitivityCell("sensitivity", next(iter(PANEL))), "fastica", 0)
