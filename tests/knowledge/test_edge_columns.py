"""Tables of edges as other tools write them: titles, effects, several files at once."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from rcweb.knowledge import GeneSets, merge_sets, read_edges, read_gmt, read_sets
from rcweb.knowledge.edge_columns import effect_weights


@pytest.mark.parametrize(
    "header",
    [
        "regulator,gene_id,effect",  # pymodulon's TRN
        "source,target,weight",  # decoupler's net
        "TF,Target_ID,MOR",
        "tf;locus_tag;sign",
        "Regulator Symbol,Gene Name,Effect",
        "transcription_factor\tGENE\tconfidence",
    ],
)
def test_titles_in_use_are_taken_for_what_they_are(tmp_path, header):
    """Whatever the case, punctuation and separator."""
    separator = next(mark for mark in "\t;," if mark in header)
    rows = [("fur", "b1", "-1"), ("fur", "b2", "0.5")]
    lines = [header, *(separator.join(row) for row in rows)]
    path = tmp_path / "net.txt"
    path.write_text("\n".join(lines) + "\n")
    sets = read_edges(path)
    assert (sets.names, sets.members) == (("fur",), (("b1", "b2"),))
    assert sets.weights == ((-1.0, 0.5),)


def test_index_ids_and_names_beside_each_other(tmp_path):
    """The name of a regulator goes before its identifier, the identifier of a gene before its name;
    neither pandas' index nor a column of types is in the way, and rows without a target are no
    edges."""
    path = tmp_path / "trn.csv"
    path.write_text(
        ",regulator,regulator_id,regulator_type,gene_name,gene_id,evidence\n"
        "0,Zur,SA1383,TF,rpsN2,g1,ChIP\n1,Zur,SA1383,TF,,g2,ChIP\n2,Zur,SA1383,TF,lost,,ChIP\n"
    )
    sets = read_sets(path)
    assert (sets.names, sets.members, sets.weights) == (("Zur",), (("g1", "g2"),), None)


def test_two_columns_with_an_equal_claim_are_for_the_user_to_decide(tmp_path):
    """The error names both columns and what settles it, in Python and on the command line."""
    path = tmp_path / "net.csv"
    path.write_text("source,TF,target\nS,T,x\n")
    with pytest.raises(ValueError, match="'source' and 'TF' may both be the regulator") as error:
        read_edges(path)
    assert "net.csv: " in str(error.value)
    assert "source=, on the command line --source-column" in str(error.value)
    assert read_edges(path, source="TF").names == ("T",)
    assert read_sets(path, source="source").names == ("S",)


def test_a_frame_needs_no_file():
    """pymodulon's table as it is in memory, missing values included."""
    trn = pd.DataFrame(
        {
            "regulator": ["fur", "fur", None],
            "gene_id": ["b1", "b2", "b3"],
            "effect": ["-", "+", "+"],
        }
    )
    sets = GeneSets.from_edges(trn)
    assert (sets.names, sets.members, sets.weights) == (("fur",), (("b1", "b2"),), ((-1.0, 1.0),))
    with pytest.raises(ValueError, match="no row holds both"):
        GeneSets.from_edges(trn.iloc[2:])


@pytest.mark.parametrize(
    ("effect", "weight"),
    [
        ("+", 1.0),
        ("-", -1.0),
        ("+-", None),
        ("-+", None),
        ("?", None),
        ("", None),
        ("Activator", 1.0),
        ("repressor", -1.0),
        ("co-activator", 1.0),
        ("auto-repression", -1.0),
        ("deactivates", None),
        ("activator or repressor", None),
        ("dual", None),
        ("-0.25", -0.25),
        ("inf", None),
        ("nan", None),
        ("3", 3.0),
    ],
)
def test_effects_are_numbers_or_words(effect, weight):
    """What is both or neither has no sign."""
    found = effect_weights(pd.Series([effect]))[0]
    assert found == weight if weight is not None else found != found


def test_a_column_of_grades_is_no_effect(tmp_path):
    """Letters of confidence do not make every weight zero; named as the effect they are refused."""
    path = tmp_path / "net.csv"
    path.write_text("source,target,confidence\nA,x,B\nA,y,C\n")
    assert read_edges(path).weights is None
    with pytest.raises(ValueError, match=r"'confidence' holds no effect.*'B'"):
        read_edges(path, weight="confidence")


def test_merged_sets_keep_their_signs(tmp_path):
    """Signs stay with their members; a list without signs is of activation, as on its own."""
    (tmp_path / "signed.csv").write_text("regulator,gene_id,effect\nfur,b1,-\nfur,b2,+-\n")
    (tmp_path / "plain.gmt").write_text("fur\tiron\tb3\nlrp\t\tb1\tb2\n")
    signed, plain = read_sets(tmp_path / "signed.csv"), read_gmt(tmp_path / "plain.gmt")
    both = merge_sets([("signed", signed), ("plain", plain), ("plain", plain)])
    assert both.names == ("fur", "fur (plain)", "lrp", "fur (plain) 2", "lrp (plain)")
    assert both.members[:3] == (("b1", "b2"), ("b3",), ("b1", "b2"))
    assert both.weights == ((-1.0, 0.0), (1.0,), (1.0, 1.0), (1.0,), (1.0, 1.0))
    assert merge_sets([("a", plain), ("b", plain)]).weights is None
    assert both.matrix(["b1"], weighted=True).toarray()[0, 0] == -1.0


@pytest.mark.data
@pytest.mark.parametrize(
    ("regulons", "table", "n_sets", "signed"),
    [
        ("ecoli_precise/trn_regulondb.tsv.gz", "ecoli_precise/expression.parquet", 236, True),
        ("saur_imodulon/trn.tsv.gz", "saur_imodulon/X.parquet", 90, False),
        ("mtb_modulome/trn.tsv.gz", "mtb_modulome/expression.parquet", 210, False),
    ],
)
def test_published_regulons_are_read_as_they_come(regulons, table, n_sets, signed):
    """RegulonDB and two TRNs of iModulonDB: no option needed, and the identifiers of the table."""
    if "RCWEB_DATA" not in os.environ:
        pytest.skip("RCWEB_DATA does not name the folder of real tables")
    folder = Path(os.environ["RCWEB_DATA"])
    sets = read_sets(folder / regulons)
    assert len(sets) == n_sets
    assert (sets.weights is not None) == signed
    frame = pd.read_parquet(folder / table)
    members = {member for members in sets.members for member in members}
    assert len(members & {*frame.columns, *frame.index}) > 0.8 * len(members)


def test_no_confidence_is_no_member() -> None:
    """It once counted as full confidence. A sign of 0 among signs stays a member without a sign,
    and so does an effect that is missing among confidences."""
    edges = pd.DataFrame({"source": "A", "target": list("xyz"), "confidence": [0.0, 0.7, None]})
    sets = GeneSets.from_edges(edges)
    assert sets.members == (("y", "z"),)
    assert sets.weights == ((0.7, 0.0),)
    signs = edges.drop(columns="confidence").assign(sign=[0, 1, -1])
    assert GeneSets.from_edges(signs).members == (("x", "y", "z"),)
