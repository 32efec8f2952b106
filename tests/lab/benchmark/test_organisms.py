"""The plan on real tables, run on a planted table in the place of a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rcweb.lab.benchmark import organisms
from rcweb.lab.benchmark.figures import curves_figure
from rcweb.lab.benchmark.organisms import ABOUT, organism_cells
from rcweb.lab.benchmark.organisms_page import (
    curve_table,
    organisms_parts,
    published_lines,
    published_points,
    ratio_lines,
)
from rcweb.lab.simulate import simulate

pytest.importorskip("pyarrow")

P = 4


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """E. coli's files with four planted regulators, whose targets are known and published."""
    truth = simulate(60, 2000, P, density=0.02, noise=0.1, random_state=0)
    genes = [f"g{n}" for n in range(2000)]
    folder = tmp_path / "ecoli_precise"
    folder.mkdir()
    samples = pd.Index([f"s{m}" for m in range(60)], name="sample")
    table = pd.DataFrame(truth.data, samples, genes)
    table.to_parquet(folder / "expression.parquet")
    about = pd.DataFrame({"project": "p", "condition": [f"c{m // 2}" for m in range(60)]}, samples)
    about.to_csv(folder / "samples.tsv.gz", sep="\t")
    lines = ["\t".join([f"r{p}", "", *np.array(genes)[truth.edges[p]]]) for p in range(P)]
    for name in ("regulons.gmt", "imodulons.gmt"):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    # In which two conditions regulator 0 differs most, and most beyond the others.
    R = truth.activities.reshape(30, 2, P).mean(axis=1) / truth.activities.std(axis=0)
    change = np.abs(R[:, None] - R[None])
    lead = change[..., 0] - change[..., 1:].max(axis=-1)
    first, second = np.unravel_index(lead.argmax(), lead.shape)
    contrast = pd.DataFrame([("r0", f"p__c{first}", f"p__c{second}")])
    contrast.columns = pd.Index(["regulator", "deletion", "wild_type"])
    contrast.to_csv(folder / "knockouts.tsv", sep="\t", index=False)
    monkeypatch.setenv("RCWEB_DATA", str(tmp_path))
    stored = (organisms._table, organisms._sets, organisms._fitted)
    for cached in stored:
        cached.cache_clear()
    yield tmp_path
    for cached in stored:
        cached.cache_clear()


def test_whole_table(data: Path) -> None:
    """FastICA meets all four, so do the published sets; the deletion shows; rows are JSON."""
    cell = replace(organism_cells()[0], n_regulators=P)
    rows = []
    for seed in (0, 1):
        row = organisms.measure_organism(cell, "fastica", seed)
        assert json.loads(json.dumps(row)) == row
        facts = {"panel": cell.panel, "label": cell.label, "asked": cell.asked, "seed": seed}
        rows.append({**facts, "method": "fastica", "status": "ok", **row})
    assert rows[0]["curve"]["regulators"][0] == P
    assert rows[0]["published"]["regulators"] == [P, P]
    assert rows[0]["knockout_area"] == 1.0
    assert rows[0]["n_components_found"] == P
    assert max(rows[0]["permuted"]["regulators"]) < P
    assert rows[0]["seconds"] > 0
    assert "agree_95" not in rows[0]
    assert rows[1]["agree_95"] == 1.0
    table = pd.DataFrame(rows)
    assert len(curve_table(table)) == 2 * len(rows[0]["curve"]["n_edges"])
    ahead = pd.concat([table, table.assign(method="rcweb")])
    assert ratio_lines(curve_table(ahead))["250"].tolist() == ["1.00 (1.00)"]
    assert any("published" in part for part in organisms_parts(table))
    assert published_lines(table)["regulators"].tolist() == [P]
    halves_first = pd.concat([table.assign(published=None), table])
    assert published_points(halves_first)["edges"].item() == rows[0]["published"]["n_edges"][0]


def test_curves_are_drawn_with_the_published_point() -> None:
    """A line for each method and way of asking, a star where a decomposition was published."""
    pytest.importorskip("matplotlib")
    import matplotlib.pyplot as plt

    line = {"signs": "together", "panel": "a", "regulators": 3, "n_edges": [250, 500]}
    told = pd.DataFrame({**line, "method": "rcweb", "asked": "known"})
    curves = pd.concat([told, told.assign(asked="auto"), told.assign(panel="b")])
    published = pd.DataFrame({"panel": ["a"], "edges": [300], "regulators": [4]})
    first, second, *_ = curves_figure(curves, published).axes
    labels = ["rcweb", "rcweb, P unknown", "published optICA"]
    assert [drawn.get_label() for drawn in first.get_lines()] == labels
    assert [drawn.get_label() for drawn in second.get_lines()] == labels[:1]
    plt.close("all")


def test_halves_and_shuffled_tables(data: Path) -> None:
    """A clear table gives the same answer in both halves, and in any order and sign."""
    cell = replace(organism_cells()[0], n_regulators=P)
    halves = organisms.measure_organism(replace(cell, part="halves"), "fastica", 0)
    assert (halves["known_again"], halves["rows_again"]) == (P, P)
    shuffled = organisms.measure_organism(replace(cell, part="shuffled"), "rcweb", 0)
    assert shuffled["agree_99"] == 1.0
    assert shuffled["agree_99_certified"] == 1.0


def test_every_table_has_its_files_named() -> None:
    """Cells are told apart by what is asked and by the part of the table."""
    cells = [
        cell
        for asked, part in (("known", "whole"), ("auto", "whole"), ("known", "halves"))
        for cell in organism_cells(asked, part)
    ]
    assert len({cell.key for cell in cells}) == len(cells) == 15
    assert {cell.table for cell in cells} == set(ABOUT)
