"""Annotation of the variables, links and how well they are explained, from files to the page."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from test_annotate_keeps import FIT, shown

from rcweb.cli.app import run
from rcweb.cli.kept import KNOWLEDGE_FILE

LINK = "https://example.org/gene/{id}?n={name}"


@pytest.fixture(scope="module")
def result(planted, tmp_path_factory) -> Path:
    """A fit with a table of names that says more than names, and a link."""
    folder = tmp_path_factory.mktemp("genes")
    lines = [f"variable{n}\tgene{n}\tprotein {n % 7}\t{n}\t{n + 5}\tNC_1" for n in range(30)]
    text = "\n".join(["id\tname\tproduct\tstart\tend\taccession", *lines]) + "\n"
    (folder / "names.tsv").write_text(text)
    files = ("--names", folder / "names.tsv", "--link", LINK)
    command = ["fit", planted / "data.tsv", "-o", folder / "out", *FIT, *files, "-q"]
    assert run(list(map(str, command))) == 0
    return folder / "out"


def test_columns_of_the_names_table_are_shown(result):
    """Product and position, coded; what is the same for all is left out; the link as given."""
    page = shown(result)
    product, position = page["gene_columns"]
    assert (product["title"], position["title"]) == ("product", "position")
    number = page["genes"].index("variable9")
    assert product["levels"][product["codes"][number]] == "protein 2"
    assert position["levels"][position["codes"][number]] == "9..14"
    assert page["link"] == LINK


def test_explained_shares_agree_with_the_whole(planted, result):
    """Their mean, weighted by the variances, is near the share of the whole table."""
    page = shown(result)
    data = pd.read_csv(planted / "data.tsv", sep="\t", index_col=0)[page["genes"]]
    mean = np.average(page["gene_explained"], weights=data.var())
    assert mean == pytest.approx(page["explained_variance"], abs=0.02)


def test_annotate_keeps_what_the_page_says_of_variables(planted, result, tmp_path):
    """Without the data; a new link takes the place of the old."""
    out = tmp_path / "out"
    shutil.copytree(result, out)
    assert run(["annotate", str(out), "--sets", str(planted / "true_sets.gmt"), "-q"]) == 0
    before, after = shown(result), shown(out)
    for name in ("gene_columns", "gene_explained", "link"):
        assert after[name] == before[name], name
    assert run(["annotate", str(out), "--link", "https://example.org/{id}", "-q"]) == 0
    assert shown(out)["link"] == "https://example.org/{id}"
    assert shown(out)["gene_columns"] == before["gene_columns"]


def test_an_unsafe_link_is_wrong_usage(planted, tmp_path, capsys):
    """It is said before any work is done."""
    command = ["fit", str(planted / "data.tsv"), "-o", str(tmp_path / "out")]
    assert run([*command, "--link", "javascript:alert({id})"]) == 2
    assert "begins with https://" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_link_in_a_folder_of_a_stranger_is_checked(planted, result, tmp_path, capsys):
    """The page must not be made to run what somebody wrote into the folder."""
    out = tmp_path / "out"
    shutil.copytree(result, out)
    kept = json.loads(gzip.decompress((out / KNOWLEDGE_FILE).read_bytes()))
    kept["link"] = "javascript:alert('{id}')"
    (out / KNOWLEDGE_FILE).write_bytes(gzip.compress(json.dumps(kept).encode()))
    command = ["annotate", str(out), "--sets", str(planted / "true_sets.gmt"), "--overwrite"]
    assert run(command) == 3
    assert "was changed after rcweb wrote it" in capsys.readouterr().err


def test_regulators_have_a_column_of_grades(result):
    """Empty for the published method, which gives none; in both files."""
    for name in ("regulators.tsv", "network.tsv"):
        table = pd.read_csv(result / name, sep="\t", keep_default_na=False)
        assert set(table["grade"]) == {""}
