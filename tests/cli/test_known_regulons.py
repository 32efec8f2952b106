"""Known regulons on the command line: several files, and options that name columns."""

from __future__ import annotations

import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.cli.knowledge import Sources, load_knowledge


def test_two_files_keep_the_signs(tmp_path):
    """What one file knows of signs is not lost because there is a second file."""
    (tmp_path / "signed.tsv").write_text("regulator\tgene_id\teffect\nfur\tb1\t-\n")
    (tmp_path / "more.gmt").write_text("lrp\t\tb2\n")
    known = load_knowledge(Sources(sets=(tmp_path / "signed.tsv", tmp_path / "more.gmt"))).known
    assert known is not None
    assert known.names == ("fur", "lrp")
    assert known.weights == ((-1.0,), (1.0,))


def test_columns_are_named_by_options(tmp_path, found, capsys):
    """The error names the option; with it the same file is read."""
    sets = tmp_path / "odd.csv"
    sets.write_text("boss,tag,how\nfur,variable1,up\nfur,variable2,down\n")
    command = ["annotate", str(found), "--sets", str(sets)]
    assert run(command) == 3
    assert "--source-column" in capsys.readouterr().err
    columns = {"source_column": "boss", "target_column": "tag", "weight_column": "how"}
    known = load_knowledge(Sources(sets=(sets,), **columns)).known
    assert known is not None
    assert (known.members, known.weights) == ((("variable1", "variable2"),), ((1.0, -1.0),))
    assert run([*command, "--source-column", "boss", "--target-column", "nothing"]) == 3
    assert "there is no column 'nothing', only boss, tag, how" in capsys.readouterr().err


def test_columns_of_a_gmt_file_are_not_ignored_silently(tmp_path, found, capsys):
    """A GMT file has none; whoever names one meant another file."""
    sets = tmp_path / "sets.gmt"
    sets.write_text("fur\t\tvariable1\n")
    assert run(["annotate", str(found), "--sets", str(sets), "--target-column", "gene"]) == 3
    assert "table of edges" in capsys.readouterr().err
