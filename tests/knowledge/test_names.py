"""The table of names: enrichment, redundancy, orientation, shares."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcweb.knowledge import (
    GeneSets,
    enrich,
    identifiability,
    name_regulators,
    named_activities,
    overlap_test,
    variance_share,
)
from rcweb.lab.simulate import simulate

TARGETS = [f"v{n}" for n in range(200)]


@pytest.fixture(scope="module")
def network():
    """Regulator a: v0-v19 up; b: v20-v39 down; c: v40-v49 of mixed signs; d: nothing."""
    C = np.zeros((4, 200))
    C[0, :20] = np.linspace(1, 3, 20)
    C[1, 20:40] = -1
    C[2, 40:50] = [1, -1] * 5
    return pd.DataFrame(C, index=list("abcd"), columns=TARGETS)


KNOWN = GeneSets.from_dict(
    {"TFA": TARGETS[:18], "TFB": TARGETS[20:45], "TFC": TARGETS[40:50], "TFX": TARGETS[100:120]},
    {"TFA": "first", "TFB": "second"},
)


def test_table_names_every_regulator_that_is_known(network):
    """One row per regulator in order; the one without targets stays unnamed."""
    table = name_regulators(network, KNOWN)
    assert table.index.tolist() == list("abcd")
    assert table["name"].tolist() == ["TFA", "TFB", "TFC", ""]
    assert table["best_known"].tolist() == ["TFA", "TFB", "TFC", ""]
    assert table["overlap"].tolist() == [18, 20, 10, 0]
    assert table["n_targets"].tolist() == [20, 20, 10, 0]
    assert table["description"].tolist() == ["first", "second", "", ""]
    assert table.loc["d", "p"] == 1
    assert (table["p"] <= table["q"]).all()


def test_orientation_follows_known_signs(network):
    """Unsigned sets are taken as activation; signed ones may turn it; a tie says nothing."""
    assert name_regulators(network, KNOWN)["orientation"].tolist() == [1, -1, 0, 0]
    repressor = GeneSets(
        KNOWN.names,
        KNOWN.descriptions,
        KNOWN.members,
        tuple((-1.0,) * len(m) for m in KNOWN.members),
    )
    assert name_regulators(network, repressor)["orientation"].tolist() == [-1, 1, 0, 0]
    unknown = GeneSets(
        KNOWN.names,
        KNOWN.descriptions,
        KNOWN.members,
        tuple((0.0,) * len(m) for m in KNOWN.members),
    )
    assert name_regulators(network, unknown)["orientation"].tolist() == [0, 0, 0, 0]


def test_named_activities_turn_with_orientation(network):
    """Columns get names, those of negative orientation are turned, ids stay where no name is."""
    activities = np.arange(8.0).reshape(2, 4)
    named = named_activities(activities, name_regulators(network, KNOWN), samples=["s", "t"])
    assert named.columns.tolist() == ["TFA", "TFB", "TFC", "d"]
    assert named.loc["t"].tolist() == [4, -5, 6, 7]
    with pytest.raises(ValueError, match="3 columns of activities, 4 named"):
        named_activities(activities[:, :3], name_regulators(network, KNOWN))


def test_several_regulators_of_one_known_one_are_numbered(network):
    """The most significant has the plain name; the numbers beside each name are its own."""
    third = network.iloc[[0]].set_axis(["f"]).assign(v18=0.0, v19=0.0, v0=0.0)
    worse = network.iloc[[0]].set_axis(["e"]).assign(v0=0.0)
    table = name_regulators(pd.concat([third, worse, network]), KNOWN)
    assert table["name"].to_dict() == {
        "f": "TFA",  # 17 of 17 targets are known: surer than 18 of 20
        "e": "TFA-3",
        "a": "TFA-2",
        "b": "TFB",
        "c": "TFC",
        "d": "",
    }
    assert table.loc[["f", "e", "a"], "overlap"].tolist() == [17, 17, 18]
    assert table.loc[["f", "e", "a"], "best_known"].tolist() == ["TFA"] * 3


def test_numbers_never_repeat_a_known_name(network):
    """A known regulator may be called TFA-2 itself."""
    known = GeneSets.from_dict({"TFA": TARGETS[:18], "TFA-2": TARGETS[20:40]})
    twice = pd.concat([network, network.iloc[[0]].set_axis(["e"])])
    assert name_regulators(twice, known)["name"].tolist() == ["TFA", "TFA-2", "", "", "TFA-3"]


def test_enrichment_lists_leading_genes_and_drops_redundant_terms(network):
    """Three nested terms over the same genes become one; the strongest edge is listed first."""
    terms = GeneSets.from_dict(
        {
            "T1": TARGETS[:20],
            "T2": TARGETS[:22],
            "T3": TARGETS[:15],
            "T4": TARGETS[10:20] + TARGETS[60:70],
        }
    )
    table = enrich(network, terms)
    assert table["set"].tolist() == ["T1", "T4"]
    assert table["similar"].tolist() == [2, 0]
    assert table["leading"][0].split(", ") == [f"v{n}" for n in range(19, -1, -1)]
    everything = enrich(network, terms, max_similarity=1.0)
    full = overlap_test(network, terms).table(max_q=0.05)
    assert everything["set"].tolist() == full["set"].tolist()
    assert np.array_equal(everything["q"], full["q"])
    assert enrich(network, GeneSets.from_dict({"T": TARGETS[100:120]})).empty


def test_top_terms_use_descriptions(network):
    """Readable words where the file has them, the id otherwise."""
    terms = GeneSets.from_dict({"GO:1": TARGETS[:20], "GO:2": TARGETS[20:40]}, {"GO:1": "growth"})
    table = name_regulators(network, KNOWN, terms=terms)
    assert table["top_terms"].tolist() == ["growth", "GO:2", "", ""]


def test_a_model_brings_its_activities_and_diagnosis():
    """What the estimator knows of each regulator is joined by its id."""
    truth = simulate(60, 200, 4, density=0.1, noise=0.0, random_state=0)
    frame = pd.DataFrame(truth.network, index=list("abcd"), columns=TARGETS)
    from rcweb.knowledge.labels import as_network

    model = SimpleNamespace(
        network_=as_network(frame),
        transform=lambda X: truth.activities,
        diagnosis_=pd.DataFrame({"searches": [1, 2, 3, 4], "n_targets": 0}, index=list("abcd")),
    )
    table = name_regulators(model, KNOWN, X=truth.data)
    assert table["searches"].tolist() == [1, 2, 3, 4]
    assert (table["n_targets"] > 0).all()
    assert 0.8 < table["variance_share"].sum() < 1.2
    assert table["identifiability"].between(0.5, 1).all()


def test_variance_shares_of_orthogonal_activities_add_up():
    """Without noise and correlation the shares are an exact split of the variance."""
    rng = np.random.default_rng(0)
    R = np.linalg.qr(np.hstack([np.ones((50, 1)), rng.standard_normal((50, 3))]))[0][:, 1:]
    C = rng.standard_normal((3, 20))
    shares = variance_share(R, C, R @ C + 7)
    assert shares.sum() == pytest.approx(1)
    assert shares == pytest.approx((C**2).sum(axis=1) / (C**2).sum())


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_identifiability_equals_one_minus_r_squared(seed):
    """Slow twin: regress every activity on the others."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 4)) + rng.standard_normal(4)
    centred = R - R.mean(axis=0)
    for p, value in enumerate(identifiability(R)):
        others = np.delete(centred, p, axis=1)
        rest = centred[:, p] - others @ np.linalg.lstsq(others, centred[:, p], rcond=None)[0]
        assert value == pytest.approx((rest @ rest) / (centred[:, p] @ centred[:, p]), abs=1e-8)


def test_identifiability_of_copies_and_of_too_few_samples_is_zero():
    """A mixture of others cannot be told apart from them."""
    R = np.random.default_rng(0).standard_normal((20, 3))
    assert identifiability(np.column_stack([R, R[:, 0] + R[:, 1]])).tolist() == [0] * 4
    assert identifiability(R[:3]).tolist() == [0] * 3
    assert identifiability(np.column_stack([R, np.ones(20)]))[3] == 0
