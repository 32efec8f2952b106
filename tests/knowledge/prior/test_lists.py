"""Known targets in any form a user may have; what is wrong with them is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb.knowledge import GeneSets
from rcweb.knowledge.prior import group_numbers, read_prior

VARIABLES = [f"g{i}" for i in range(20)]


def test_every_form_gives_the_same_list(tmp_path):
    members = ["g3", "g1", "g7", "missing"]
    gmt = tmp_path / "known.gmt"
    gmt.write_text("fur\tdescription\t" + "\t".join(members) + "\n")
    edges = tmp_path / "known.tsv"
    edges.write_text("regulator\ttarget\n" + "".join(f"fur\t{m}\n" for m in members))
    frame = pd.DataFrame(0.0, index=["fur"], columns=VARIABLES)
    frame.loc["fur", ["g3", "g1", "g7"]] = 1.0
    forms = [gmt, str(gmt), edges, {"fur": members}, GeneSets.from_dict({"fur": members}), frame]
    for form in forms:
        (one,) = read_prior(form, VARIABLES).lists
        assert one.name == "fur"
        assert one.members.tolist() == [1, 3, 7]
        assert (one.confidence == 1).all()


def test_signs_and_confidences_of_an_edge_list_are_kept(tmp_path):
    edges = tmp_path / "known.tsv"
    edges.write_text("regulator\ttarget\tweight\nfur\tg1\t-0.5\nfur\tg2\t1\nfur\tg3\t0\n")
    (one,) = read_prior(edges, VARIABLES).lists
    assert one.sign.tolist() == [-1, 1, 0]
    assert one.confidence.tolist() == [0.5, 1, 1]


def test_strengths_beyond_one_are_signs_only():
    sets = GeneSets(("fur",), ("",), (("g1", "g2", "g3"),), ((-7.0, 2.0, 0.5),))
    (one,) = read_prior(sets, VARIABLES).lists
    assert one.sign.tolist() == [-1, 1, 1]
    assert one.confidence.tolist() == [1, 1, 1]


def test_probabilities_of_a_matrix_are_confidences():
    frame = pd.DataFrame([[0.9, 0.2, 0.0, 0.5]], index=["fur"], columns=VARIABLES[:4])
    (one,) = read_prior(frame, VARIABLES).lists
    assert one.members.tolist() == [0, 1, 3]
    assert one.confidence.tolist() == [0.9, 0.2, 0.5]
    with pytest.raises(ValueError, match="between 0 and 1; it holds 3"):
        read_prior(frame + 2.1 * (frame > 0.8), VARIABLES)


def test_sources_keep_their_names_and_small_lists_are_named(tmp_path):
    gmt = tmp_path / "chip.gmt"
    gmt.write_text("fur\t\tg1\tg2\tg3\nfnr\t\tg1\tg2\n")
    lists = read_prior([gmt, ("database", {"fur": ["g3", "g4", "g5"]})], VARIABLES)
    assert [one.source for one in lists.lists] == ["chip.gmt", "database"]
    assert lists.names == ("fur",)
    assert lists.dropped == ("fnr",)


def test_other_names_than_those_of_the_table_are_refused_with_examples():
    with pytest.raises(ValueError, match=r"'b0001'.*the table g0, g1, g2"):
        read_prior({"fur": ["b0001", "b0002", "b0003"]}, VARIABLES)
    with pytest.raises(TypeError, match="is a text"):
        read_prior({"fur": "g1 g2"}, VARIABLES)
    with pytest.raises(TypeError, match="not int"):
        read_prior(3, VARIABLES)
    with pytest.raises(ValueError, match="empty"):
        read_prior([], VARIABLES)


def test_lists_that_are_too_small_or_absent_are_not_blamed_on_names():
    for small in ({"fur": ["g1", "g2"]}, {"fur": ["g1", "g2"], "lexA": ["g3"]}):
        with pytest.raises(ValueError, match="all are there, but so few say nothing"):
            read_prior(small, VARIABLES)
    with pytest.raises(ValueError, match="prior has no list"):
        read_prior({}, VARIABLES)


def test_groups_by_name_or_in_order_are_the_same():
    labels = ["a", "a", None, "b", ""] + ["c"] * 15
    in_order = group_numbers(labels, VARIABLES)
    by_name = group_numbers(pd.Series(labels, index=VARIABLES), VARIABLES)
    np.testing.assert_array_equal(in_order, by_name)
    # Without a label a variable is alone.
    assert in_order[0] == in_order[1] != in_order[2] != in_order[4]
    assert len(set(in_order)) == 5
    with pytest.raises(ValueError, match="19 labels for 20 variables"):
        group_numbers(labels[1:], VARIABLES)
    with pytest.raises(ValueError, match="labels none of the variables"):
        group_numbers({"b0001": "x"}, VARIABLES)
