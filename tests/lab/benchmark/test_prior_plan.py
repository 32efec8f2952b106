"""The plan on known lists, run on a planted table in the place of a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rcweb.engine.matching import match_rows
from rcweb.estimator import RCweb
from rcweb.lab.baselines.guided import mean_whitened
from rcweb.lab.benchmark import plans, prior, prior_adapter, prior_planted, read_rows, run
from rcweb.lab.benchmark.page import render
from rcweb.lab.benchmark.plans import Block, get_plan, tasks_of
from rcweb.lab.benchmark.prior import ALL_ASKED, OURS_ALONE, PriorCell, measure_prior, prior_cells
from rcweb.lab.benchmark.prior_lists import ECOLI, YEAST
from rcweb.lab.benchmark.prior_methods import LIST_METHODS, warm_up_lists
from rcweb.lab.benchmark.prior_page import (
    calibration_table,
    planted_lines,
    prior_means,
    random_supported,
    ratio_to_rival,
)
from rcweb.lab.benchmark.prior_planted import (
    NETWORK_SCORES,
    PLANTED_CONDITIONS,
    PlantedPriorCell,
    measure_planted_prior,
    planted_prior_cells,
)
from rcweb.lab.benchmark.scenarios import Cell
from rcweb.lab.benchmark.targets import target_lines
from rcweb.lab.benchmark.worker import answer
from rcweb.lab.simulate import simulate

pytest.importorskip("pyarrow")

P, N = 4, 200
GUIDED_SCORES = prior_adapter.guided_scores
FACTS = {"status": "ok", "method": "guided", "seed": 0}


def stand_in(
    model: Any, X: pd.DataFrame, lists: Any, groups: Any, signs: Any = None, known: Any = None
) -> Any:
    """In the place of `guided_scores`: a list is supported if its members agree; their scores,
    squeezed into 0 .. 1, are the probabilities."""
    data = X.to_numpy() - X.to_numpy().mean(axis=0)
    scores = mean_whitened.score(data, lists, n_components=model.n_components)
    inside = np.array([row[listed].mean() for row, listed in zip(scores, lists)])
    told = pd.DataFrame({"supported": inside > 0.6, "reliability": np.clip(inside, 0, 1)})
    return scores, np.clip(np.abs(scores), 0, 1), told


def stand_in_network(model: Any, X: pd.DataFrame, lists: Any) -> Any:
    return prior_adapter.network_of(model)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """E. coli's files with four planted regulators; b0 to b3 are their own genes."""
    truth = simulate(60, N, P, density=0.12, weights="positive", noise=0.2, random_state=0)
    genes = [f"b{n}" for n in range(N)]
    folder = tmp_path / "ecoli_precise"
    folder.mkdir()
    pd.DataFrame(truth.data, columns=pd.Index(genes)).to_parquet(folder / "expression.parquet")
    names = pd.DataFrame({"gene_name": [f"r{n}" for n in range(N)]}, genes)
    names["operon"] = [f"op{n // 3}" for n in range(N)]
    names.to_csv(folder / "genes.tsv.gz", sep="\t")
    lines = ["\t".join([f"R{p}", "", *np.array(genes)[truth.edges[p]]]) for p in range(P)]
    (folder / "regulons.gmt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.setenv("RCWEB_DATA", str(tmp_path))
    monkeypatch.setattr(prior_adapter, "guided_scores", stand_in)
    monkeypatch.setattr(prior_adapter, "guided_network", stand_in_network)
    stored = (prior._problem, prior._names, prior._known, prior._regulators, prior._groups)
    for cached in stored:
        cached.cache_clear()
    yield tmp_path
    for cached in stored:
        cached.cache_clear()


def cell(split: str = "gene", condition: str = "clean") -> PriorCell:
    return PriorCell("prior", "E", ECOLI, "ecoli_precise/regulons.gmt", P, split, condition)


@pytest.mark.parametrize("method", LIST_METHODS)
@pytest.mark.parametrize("split", ["gene", "group"])
def test_every_method_leaves_a_row(data: Path, method: str, split: str, monkeypatch) -> None:
    """Rows are JSON; with planted targets all but the forest, which sees no lists, find most."""
    monkeypatch.setattr("rcweb.lab.baselines.guided.forest.N_TREES", 1)
    row = measure_prior(cell(split), method, 0)
    assert json.loads(json.dumps(row)) == row
    assert (row["n_lists"], row["n_answered"], row["n_single"]) == (P, P, 0)
    assert 0 < row["auroc"] <= 1
    assert row["average_precision"] > (0.5 if method != "forest" else 0.0)
    assert row["average_precision_measured"] == row["average_precision"]
    assert row["seconds"] > 0
    assert ("blind_ratio" in row) == (method in ("guided", "blind-row"))
    assert ("n_supported" in row) == ("calibration" in row) == (method == "guided")


def test_conditions_of_ours(data: Path) -> None:
    """True lists are supported and random ones not; false members lower what is supported by
    nothing here; bins count every variable that was not shown, or every shown one."""
    clean = measure_prior(cell(), "guided", 0)
    assert (clean["n_true"], clean["n_supported"], clean["n_random"]) == (P, P, 0)
    assert "calibration_shown" not in clean
    random = measure_prior(cell(condition="random"), "guided", 0)
    assert (random["n_true"], random["n_random"], random["n_random_supported"]) == (0, P, 0)
    assert "average_precision" not in random
    mixed = measure_prior(cell(condition="mixed"), "guided", 0)
    assert (mixed["n_supported"], mixed["n_random_supported"], mixed["random_share"]) == (P, 0, 0)
    assert mixed["average_precision"] == clean["average_precision"]
    permuted = measure_prior(cell(condition="permuted"), "guided", 0)
    assert permuted["n_random"] == P
    assert permuted["average_precision"] < 0.3 < clean["average_precision"]
    false = measure_prior(cell(condition="false 60 %"), "guided", 0)
    shown, others = (sum(false[name]["n"]) for name in ("calibration_shown", "calibration"))
    assert shown + others == P * N


def test_hidden_members_are_not_seen(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the adapter gets: shown members alone, groups where whole ones are hidden."""
    seen: list[Any] = []

    def spy(model: Any, X: pd.DataFrame, lists: Any, groups: Any, *more: Any, **told: Any) -> Any:
        seen.append((lists, groups))
        return stand_in(model, X, lists, groups)

    monkeypatch.setattr(prior_adapter, "guided_scores", spy)
    for split in ("gene", "group"):
        measure_prior(cell(split), "guided", 1)
    known = prior._known(ECOLI, "ecoli_precise/regulons.gmt", "clean")
    for (lists, groups), whole in zip(seen, (False, True)):
        assert (groups is not None) == whole
        for listed, members in zip(lists, known.members):
            assert set(listed) < set(members)
            assert len(members) / 3 < len(listed) < 2 * len(members) / 3


def test_one_blind_fit_serves_all_splits(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits = []
    fit = RCweb.fit
    monkeypatch.setattr(RCweb, "fit", lambda self, X, y=None: fits.append(1) or fit(self, X, y))
    for seed in range(3):
        for method in ("guided", "blind-row", "ulm"):
            measure_prior(cell(), method, seed)
    assert len(fits) == 1


def test_time_is_told_where_it_is_that_of_one_call(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random lists drawn for one split serve the next, whose time would be too short."""
    monkeypatch.setattr(prior_adapter, "guided_scores", GUIDED_SCORES)
    for split in ("gene", "group"):
        rows = [measure_prior(cell(split), "guided", seed) for seed in range(2)]
        assert ["blind_ratio" in row for row in rows] == [True, False]
    assert len(prior._problem(ECOLI, P).known) == 2


def test_plan_resumes_and_writes_its_tables(data: Path, tmp_path: Path, monkeypatch) -> None:
    """A finished plan does no work; more splits add their rows alone; pages and targets read it."""
    cells = (cell(), cell("group"), cell(condition="mixed"), cell(condition="random"))
    block = Block(cells, ("guided", "mean-raw", "mean-whitened"), (0, 1))
    monkeypatch.setitem(plans.PLANS, "prior", lambda: (block,))
    out = tmp_path / "results" / "prior"
    with ThreadPoolExecutor(1) as executor:
        run("prior", out=out, executor=executor, methods=["mean-raw"])
        rivals_alone = render("<!-- table prior calibration -->\n<!-- end -->", out.parent)
        assert "Not measured yet." in rivals_alone
        run("prior", out=out, executor=executor)
        before = (out / "rows.jsonl").read_bytes()
        rows = read_rows(out / "rows.jsonl")
        assert set(rows["status"]) == {"ok"}
        assert len(rows) == 24
        run("prior", out=out, executor=executor)
        assert (out / "rows.jsonl").read_bytes() == before
        run("prior", out=out, executor=executor, seeds=3)
    assert len(read_rows(out / "rows.jsonl")) == 36
    page = (out / "summary.md").read_text()
    assert "## Hidden by group, clean: average precision / AUROC" in page
    assert "no operons to hide" in page
    marks = "\n".join(
        f"<!-- table prior {name} -->\n<!-- end -->"
        for name in ("gene", "group", "false", "support", "calibration", "planted")
    )
    filled = render(marks, out.parent)
    assert filled.count("Not measured yet.") == 1  # planted
    assert "| E | " in filled
    assert "a lower bound" in filled
    lines = target_lines(lambda plan: read_rows(out.parent / plan / "rows.jsonl"))
    known = lines[lines["target"].str.startswith("known lists")]
    assert len(known) == 8
    assert set(known["reached"]) <= {"yes", "**no**"}


def test_ratio_is_to_the_best_rival_of_the_table() -> None:
    """By hand: 0.6 over the better of 0.3 and 0.2, the whitened mean counted or not; planted
    cells, other conditions and the forest are no part of it."""
    common = {"status": "ok", "seed": 0, "split": "gene", "condition": "clean", "sets": "s"}
    values = {"guided": 0.6, "mean-whitened": 0.3, "ulm": 0.2, "forest": 0.9}
    rows = [
        {**common, "panel": "a", "method": m, "average_precision": v} for m, v in values.items()
    ]
    rows.append({**rows[2], "condition": "false 30 %", "average_precision": 0.9})
    rows.append({**rows[2], "sets": None, "panel": "planted"})
    table = pd.DataFrame(rows)
    assert ratio_to_rival(table, "gene")["guided"].tolist() == pytest.approx([2.0])
    assert ratio_to_rival(table, "gene", False)["guided"].tolist() == pytest.approx([3.0])
    assert ratio_to_rival(table, "group").empty
    assert ratio_to_rival(pd.DataFrame(), "gene").empty
    assert random_supported(pd.DataFrame(), "mixed", "random_share").empty


def test_bins_are_pooled_by_their_entries() -> None:
    """Two rows with 1 and 3 entries in the same bin: means weigh 1 to 3; empty bins are dropped."""
    common = {
        "status": "ok",
        "split": "gene",
        "condition": "clean",
        "panel": "a",
        "method": "guided",
    }
    bins = [
        {"n": [1, 0], "probability": [0.2, 0.0], "true": [1.0, 0.0]},
        {"n": [3, 0], "probability": [0.6, 0.0], "true": [0.0, 0.0]},
    ]
    rows = pd.DataFrame([{**common, "seed": k, "calibration": b} for k, b in enumerate(bins)])
    table = calibration_table(rows)
    assert table[["n", "probability", "true"]].iloc[0].tolist() == pytest.approx([4, 0.5, 0.25])
    assert len(table) == 1
    assert prior_means(rows)["n_splits"].tolist() == [2]


def test_planted_cells_have_a_truth(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours leaves rho, recall and FDR with lists and without; rivals only what was hidden."""
    assert {c.scenario().noise for c in planted_prior_cells()} == {0.5, 0.1}
    small = Cell("fig3", "A", 40, 80, P, density=0.3, noise=0.2)
    monkeypatch.setattr(prior_planted, "figure3", lambda *_: (small,))
    one, wrong, random = (
        PlantedPriorCell("prior", "small", "A", 40, 80, P, condition)
        for condition in PLANTED_CONDITIONS
    )
    ours = measure_planted_prior(one, "guided", 0)
    assert {f"{name}{end}" for name in NETWORK_SCORES for end in ("", "_blind")} <= set(ours)
    assert ours["recall_hidden"] == ours["recall_hidden_blind"] > 0.5
    lines = planted_lines(prior_means(pd.DataFrame([{**asdict(one), **ours, **FACTS}])))
    assert lines.at[0, "recall of what was not shown"] == ours["recall_hidden"]
    assert ours["rho"] == ours["rho_blind"] > 0.9  # the stand-in changes nothing
    rival = measure_planted_prior(one, "mean-raw", 0)
    assert "rho" not in rival
    assert rival["n_lists"] == P
    assert 0 < rival["average_precision"] < 1
    assert "calibration_shown" in measure_planted_prior(wrong, "guided", 0)
    assert "average_precision" not in measure_planted_prior(random, "guided", 0)


def test_cells_of_the_plan() -> None:
    """Five collections; operons but in yeast; signs and shared names where there are some."""
    compared = prior_cells(ALL_ASKED)
    assert len(compared) == 3 * (5 + 3)
    assert not any(c.table == YEAST and c.split == "group" for c in compared)
    ours = {(c.condition, c.panel, c.split) for c in prior_cells(OURS_ALONE)}
    signed = {panel for condition, panel, _ in ours if condition == "signs"}
    assert signed == {"E. coli, RegulonDB"}
    others = {(panel, split) for condition, panel, split in ours if condition == "other organism"}
    assert others == {("E. coli, RegulonDB", "gene"), ("S. aureus", "gene")}
    tasks = tasks_of(get_plan("prior"))
    assert {t.method for t in tasks} == set(LIST_METHODS)
    forest = {t.cell.panel for t in tasks if t.method == "forest"}
    assert forest == {"E. coli, RegulonDB", "S. aureus"}
    # The share of random lists among the supported varies much from split to split.
    for condition, splits in (("mixed", 20), ("random", 5)):
        asked = [t for t in tasks if t.cell.label == f"E. coli, RegulonDB, group, {condition}"]
        assert sorted(t.seed for t in asked) == list(range(splits))


def test_methods_are_told_apart_by_what_the_cell_asks() -> None:
    """A rival without lists cannot run here, nor one with lists elsewhere."""
    with pytest.raises(ValueError, match="mean-whitened"):
        tasks_of(get_plan("prior"), methods=["fastica"])
    with pytest.raises(ValueError, match="fastica"):
        tasks_of(get_plan("fig1"), methods=["ulm"])


def test_worker_runs_both_kinds_of_cells(data: Path) -> None:
    """By their names, as a message from another process tells them; errors become rows."""
    for one in (cell(), planted_prior_cells()[0]):
        kind = type(one).__name__
        assert answer({"kind": kind, "warm_up": "ulm"}) == {"status": "ok"}
        row = answer({"kind": kind, "cell": asdict(one), "method": "ulm", "seed": 0})
        assert row["status"] == "ok"
    yeast = PriorCell("prior", "Y", YEAST, "none.gmt", P, "group")
    row = answer({"kind": "PriorCell", "cell": asdict(yeast), "method": "ulm", "seed": 0})
    assert row["status"] == "failed"


def test_the_fit_with_lists_answers_in_their_order() -> None:
    """The adapter itself: hidden targets of planted lists come first, true lists are supported."""
    truth = simulate(80, N, P, density=0.1, noise=0.2, random_state=1)
    X = pd.DataFrame(truth.data, columns=pd.Index([f"v{n}" for n in range(N)]))
    model = RCweb(P, random_state=0).fit(X)
    members = [np.flatnonzero(row) for row in truth.edges]
    shown = [listed[::2] for listed in members]
    scores, probability, told = prior_adapter.guided_scores(model, X, shown, None)
    assert scores.shape == probability.shape == (P, N)
    assert len(told) == P
    for row, listed, given in zip(scores, members, shown):
        hidden, none = np.setdiff1d(listed, given), np.setdiff1d(np.arange(N), listed)
        assert np.median(row[hidden]) > np.quantile(row[none], 0.9)
    assert not model.guided  # the fit that other splits share is untouched
    kept: dict[bytes, Any] = {}
    for lists in (members, shown):  # what was asked before does not change an answer
        again, _, _ = prior_adapter.guided_scores(model, X, lists, None, known=kept)
    np.testing.assert_array_equal(again, scores)
    assert list(kept) == [prior_adapter.group_key(None)]
    with_lists, without = prior_adapter.guided_network(model, X, shown), model.edge_probability_
    changed = (with_lists.probability != without).any(axis=1)
    assert changed.all()
    right = match_rows(with_lists.network, truth.network)
    for row, regulator in zip(right.found, right.other):
        known = shown[regulator]
        assert (with_lists.probability[row, known] >= without[row, known] - 1e-6).mean() > 0.9
    warm_up_lists("guided")
