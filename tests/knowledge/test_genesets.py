"""Reading sets: GMT and edge lists, plain and gzipped, and what is refused."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rcweb.knowledge import GeneSets, read_edges, read_gmt, read_sets


def test_gmt_round_trip(tmp_path):
    """Names, descriptions and members come back; repeats and empty fields are dropped."""
    path = tmp_path / "a.gmt"
    path.write_text("GCN4\tamino acids\tYAL1\tYAL2\tYAL1\t\n\nHSF1\t\tYBR1\r\n")
    sets = read_gmt(path)
    assert sets.names == ("GCN4", "HSF1")
    assert sets.descriptions == ("amino acids", "")
    assert sets.members == (("YAL1", "YAL2"), ("YBR1",))
    assert len(sets) == 2


def test_gzipped_gmt_is_read_by_name(tmp_path):
    """`read_sets` looks at the ending only."""
    path = tmp_path / "a.gmt.gz"
    path.write_bytes(gzip.compress(b"s\td\tx\ty\n"))
    assert read_sets(path).members == (("x", "y"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no set"),
        ("a\tb\n", "line 1: expected name, description and members"),
        ("a\td\tx\nb\td\ty\na\td\tz\n", "two sets are called 'a'"),
    ],
)
def test_bad_gmt_says_where(tmp_path, text, message):
    """The error names file and line."""
    path = tmp_path / "bad.gmt"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_gmt(path)


def test_binary_file_is_refused(tmp_path):
    """Not a traceback from a decoder."""
    path = tmp_path / "bad.gmt"
    path.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(ValueError, match="is not a text file"):
        read_gmt(path)


def test_edge_list_with_signs(tmp_path):
    """Words become signs; a contradiction or an unknown sign becomes 0 but stays a member."""
    path = tmp_path / "trn.tsv"
    path.write_text(
        "regulator\ttarget\teffect\nfur\tb1\t-\nfur\tb2\t+\nfur\tb2\t-\nfur\tb3\tunknown\narcA\tb1\tactivator\n"
    )
    sets = read_sets(path)
    assert sets.names == ("arcA", "fur")
    assert sets.members[1] == ("b1", "b2", "b3")
    assert sets.weights == ((1.0,), (-1.0, 0.0, 0.0))


def test_edge_list_without_weights_and_other_names(tmp_path):
    """decoupler's column names work; commas too."""
    path = tmp_path / "net.csv"
    path.write_text("source,target\nA,x\nA,y\nB,x\n")
    sets = read_edges(path)
    assert sets.weights is None
    assert sets.matrix(["y", "x"]).toarray().tolist() == [[1, 1], [0, 1]]


def test_edge_list_without_columns_says_which_it_has(tmp_path):
    """A user can then name them."""
    path = tmp_path / "net.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="its columns are a, b"):
        read_edges(path)
    assert read_edges(path, source="a", target="b").names == ("1",)
    path.write_text(",".join(f"g{i}" for i in range(4000)) + "\n")
    with pytest.raises(ValueError, match="g18, g19 and 3,980 more: name it") as wide:
        read_edges(path)
    assert len(str(wide.value)) < 400
    with pytest.raises(ValueError, match="no column 'c'"):
        GeneSets.from_edges(pd.DataFrame({"a": ["x"]}), source="a", target="c")


@given(
    st.dictionaries(
        st.text("abc", min_size=1), st.lists(st.sampled_from("uvwxyz"), min_size=1), max_size=6
    ),
    st.sets(st.sampled_from("uvwxyz")),
    st.integers(1, 3),
)
def test_within_keeps_only_the_universe(drawn, universe, min_size):
    """Members and sizes after restriction; weights stay with their members."""
    plain = GeneSets.from_dict(drawn)
    sets = GeneSets(
        plain.names,
        plain.descriptions,
        plain.members,
        tuple(tuple(float(ord(m)) for m in members) for members in plain.members),
    )
    inside = sets.within(sorted(universe), min_size, 4)
    assert inside.weights is not None
    for members, weights in zip(inside.members, inside.weights):
        assert set(members) <= universe
        assert min_size <= len(members) <= 4
        assert [float(ord(m)) for m in members] == list(weights)
    matrix = inside.matrix(sorted(universe), weighted=True).toarray()
    assert np.count_nonzero(matrix) == sum(map(len, inside.members))


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["a.gmt", "a.gmt.gz", "a.tsv", "a.csv.gz"]),
    st.one_of(
        st.binary(max_size=60),
        st.binary(max_size=40).map(lambda b: b"\x1f\x8b" + b),
        st.binary(max_size=40).map(gzip.compress),
        st.text('ab\t,\n\r"+-\x00', max_size=60).map(str.encode),
        st.text('ab\t\n"+-', max_size=60).map(
            lambda t: b"regulator\ttarget\teffect\n" + t.encode()
        ),
    ),
)
def test_any_bytes_give_sets_or_a_clear_error(tmp_path, name, content):
    """Fuzzed files: a right answer or a ValueError, never another traceback."""
    path = tmp_path / name
    path.write_bytes(content)
    try:
        sets = read_sets(path)
    except ValueError:
        return
    assert len(sets) > 0
    assert all(len(set(m)) == len(m) for m in sets.members)


def test_ragged_input_is_refused():
    """The three lists describe the same sets."""
    with pytest.raises(ValueError, match="one entry per set"):
        GeneSets(("a",), (), (("x",),))
    with pytest.raises(ValueError, match="set 'a' lists twice 'x'"):
        GeneSets(("a",), ("",), (("x", "x"),))
    with pytest.raises(ValueError, match="one number per member"):
        GeneSets(("a",), ("",), (("x", "y"),), ((1.0,),))
