"""The scoreboard: paired tests, who leads, and a page in step with the results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rcweb.lab.benchmark.measured import real_time
from rcweb.lab.benchmark.paired import compare
from rcweb.lab.benchmark.questions import Question, questions
from rcweb.lab.benchmark.scoreboard import (
    Column,
    board,
    columns,
    losses,
    main,
    reader,
    render,
    winners,
)
from rcweb.lab.benchmark.targets import target_lines

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "scoreboard.md"


def series(values: list[list[float]]) -> pd.Series:
    """One list per unit, one value per seed."""
    index = [(f"u{u}", s) for u, seeds in enumerate(values) for s in range(len(seeds))]
    flat = [value for seeds in values for value in seeds]
    return pd.Series(flat, pd.MultiIndex.from_tuples(index, names=["unit", "seed"]))


@pytest.mark.skipif(not PAGE.exists(), reason="not a clone of the repository")
def test_page_is_in_step_with_the_results() -> None:
    """python -m rcweb.lab.benchmark.scoreboard makes it."""
    assert render(ROOT / "benchmarks" / "results") == PAGE.read_text(encoding="utf-8")


def test_units_count_not_their_seeds() -> None:
    """Six units won: p = 2 / 2^6, whatever the number of seeds."""
    ahead = compare(series([[2.0, 4.0]] * 6), series([[1.0, 1.0 + k / 10] for k in range(6)]))
    assert (ahead.n, ahead.tie) == (6, False)
    assert ahead.p == pytest.approx(2 / 64)
    assert ahead.difference == pytest.approx(2 - np.mean([k / 20 for k in range(6)]))


def test_few_units_fall_back_on_seeds_and_too_few_pairs_are_a_tie() -> None:
    """Two units of three seeds are six pairs; five pairs show nothing; equal values tie."""
    better, worse = series([[2.0, 3, 4]] * 2), series([[1.0, 1.1, 1.2]] * 2)
    assert not compare(better, worse).tie
    assert compare(better.iloc[:5], worse).n == 5
    assert compare(better.iloc[:5], worse).tie
    assert compare(better, better).p == 1
    assert compare(better.iloc[:0], worse).n == 0


@pytest.fixture
def column() -> Column:
    """rcweb ahead of FastICA in six of eight units; K-SVD, ahead of both, ran on one."""
    ours = [[0.88, 0.92]] * 6 + [[0.5, 0.5]] * 2
    values = pd.DataFrame(
        {
            "rcweb": series(ours),
            "fastica": series([[0.8, 0.82]] * 6 + [[0.7, 0.7]] * 2),
            "ksvd": series([[0.95, 0.95]]),
        }
    )
    return Column(Question("q", "asks", "p/rows.jsonl", lambda read: values), values)


def test_board_links_marks_and_counts(column: Column) -> None:
    """The leader is bold, incomplete methods say so; K-SVD on one unit cannot be told from it."""
    table = board([column]).set_index("method")["q"]
    assert table["rcweb"] == "[**0.800**](../benchmarks/results/p/rows.jsonl) ± 0.021"
    assert table["ksvd"].endswith("± 0.000, 1 of 8")
    assert column.leader == "rcweb"
    assert column.ties == ["fastica", "ksvd"]
    line = winners([column]).iloc[0]
    assert line["leads"] == "rcweb"
    assert line["rcweb beside the best rival"].startswith("tie (ksvd: -0.0500, n = 2")


def test_losses_name_every_unit_and_the_best_rival(column: Column) -> None:
    """Two to FastICA, one to K-SVD; with less being better, the others."""
    table = losses(column)
    assert list(table["where"]) == ["u6", "u7", "u0"]
    assert list(table["which"]) == ["fastica", "fastica", "ksvd"]
    assert list(table["by"]) == pytest.approx([0.2, 0.2, 0.05])
    turned = Column(Question("q", "asks", "", column.question.values, higher=False), column.values)
    assert turned.leader == "fastica"
    assert len(losses(turned)) == 6


def rows(plan: str) -> list[dict[str, object]]:
    """A plan run with two methods, as the worker would leave it."""
    made: list[dict[str, object]] = []
    for method, value in (("fastica", 2.0), ("rcweb", 3.0)):
        for panel in ("E. coli, RegulonDB", "null: white"):
            numbers = {
                "n_edges": [500, 1000],
                "edges": [500, 1000],
                "signs": ["together"] * 2,
                "regulators": [10 * value, 10 * value],
                "pairs": [value, value],
                "recovery": [0.1, 0.2],
                "relevance": [0.1, 0.2],
            }
            made.append(
                {
                    "cell": f"{plan} {panel}",
                    "label": panel,
                    "panel": panel,
                    "asked": "known",
                    "part": "whole",
                    "method": method,
                    "seed": 0,
                    "threads": 1,
                    "status": "ok",
                    "seconds": value,
                    "cpu_seconds": value,
                    "seconds_ratio": value,
                    "peak_mb": value,
                    "rho": value / 4,
                    "f1": value / 4,
                    "fdr": 0.1,
                    "n_edges": 7,
                    "n_certified": 2 if method == "rcweb" else None,
                    "n_certified_right": 1 if method == "rcweb" else None,
                    "curve": numbers,
                    "permuted": numbers,
                }
            )
    return made


def test_every_question_reads_its_rows(tmp_path: Path) -> None:
    """From rows on disk to the page; --check tells, writing mends."""
    for plan in ("fig1", "foreign", "random", "organisms"):
        (tmp_path / plan).mkdir()
        text = "\n".join(json.dumps(row) for row in rows(plan))
        (tmp_path / plan / "rows.jsonl").write_text(text, encoding="utf-8")
    measured = {c.question.name: c.values for c in columns(reader(tmp_path))}
    ratio = measured["real: regulators"].xs("E. coli, RegulonDB", level="unit")
    assert ratio["rcweb"].item() == pytest.approx(1.5)
    assert measured["nulls: edges"].loc[("null: white", 0), "rcweb"] == 7
    assert measured["certified: right"]["rcweb"].item() == 0.5
    assert measured["random: rho"]["rcweb"].mean() == 0.75
    assert measured["random: right"]["rcweb"].mean() == 0.5
    # As it was timed beside FastICA in one process.
    assert measured["time, real"]["rcweb"].iloc[0] == pytest.approx(np.log10(3))
    absent = {name for name, values in measured.items() if not values.size}
    assert absent == {
        *("knock-outs", "seeds", "shuffled", "halves: known", "halves: rows", "replicates")
    }
    page = tmp_path / "page.md"
    arguments = ["--page", str(page), "--results", str(tmp_path)]
    assert main([*arguments, "--check"]) == 1
    assert not page.exists()
    assert main(arguments) == 0
    assert main([*arguments, "--check"]) == 0
    assert "Not measured yet: knock-outs; seeds" in page.read_text(encoding="utf-8")


def test_rows_without_a_time_beside_fastica_are_compared_with_its_mean() -> None:
    """Rows of earlier runs have seconds alone."""
    made = pd.DataFrame(rows("organisms")).assign(status="ok", part="whole")
    made.loc[made["method"] == "fastica", "seconds_ratio"] = np.nan
    ratio = real_time(lambda plan: made)
    assert ratio["fastica"].unique().tolist() == [1.0]
    assert ratio["rcweb"].unique().tolist() == [3.0]
    before = real_time(lambda plan: made.drop(columns="seconds_ratio"))
    assert before["rcweb"].unique().tolist() == [1.5]


def test_targets_are_judged_by_the_mean_or_by_every_unit(tmp_path: Path) -> None:
    """A ratio of 1.5 reaches 1; edges in a null are too many; the rest is not measured."""
    for plan in ("foreign", "organisms"):
        (tmp_path / plan).mkdir()
        text = "\n".join(json.dumps(row) for row in rows(plan))
        (tmp_path / plan / "rows.jsonl").write_text(text, encoding="utf-8")
    lines = target_lines(reader(tmp_path)).set_index("target")
    ahead = lines.loc["known regulators, 1,000 edges, ratio to FastICA's"]
    assert (ahead["required"], ahead["reached"], ahead["mean"]) == ("mean >= 1", "yes", "1.500")
    nulls = lines.loc["nulls: edges, P told"]
    assert (nulls["required"], nulls["reached"], nulls["within"]) == (
        "every <= 0",
        "**no**",
        "0 of 1",
    )
    assert nulls["worst"] == "null: white"
    assert lines.loc["foreign worlds: FDR, P told", "worst"] == "E. coli, RegulonDB"
    assert lines.loc["foreign worlds: certified rows that are right, P told", "mean"] == "0.500"
    assert lines.loc["knock-outs: area", "reached"] == "not measured"
    assert set(lines.loc[lines.index.str.endswith("P unknown"), "reached"]) == {"not measured"}


def test_nothing_measured_is_said(tmp_path: Path) -> None:
    """Every question is named."""
    assert all(q.name in render(tmp_path) for q in questions())


def test_a_rival_with_fewer_seeds_is_compared_on_those() -> None:
    """rcweb is behind on seed 0, the only one the rival ran, though ahead of it in the mean."""
    values = pd.DataFrame({"rcweb": series([[0.5, 0.9]]), "mofa": series([[0.6]])})
    line = losses(Column(Question("q", "asks", "", lambda read: values), values)).iloc[0]
    assert (line["which"], line["rcweb"], line["rival"]) == ("mofa", 0.5, 0.6)
