"""Known targets through the estimator: wrong lists get no support, the network stays as it is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb, load_model, save_model
from rcweb.knowledge.prior.evidence import BlindRow, CoVariation
from rcweb.lab.simulate import simulate

N, P = 300, 6


def names(members):
    return [f"x{i}" for i in members]


@pytest.fixture(scope="module")
def truth():
    return simulate(120, N, P, noise=0.4, random_state=1)


@pytest.fixture(scope="module")
def blind(truth):
    return RCweb(P).fit(truth.data)


@pytest.fixture(scope="module")
def halves(truth):
    """A random half of each regulator's targets, and the other half."""
    rng = np.random.default_rng(0)
    parts = {}
    for p in range(P):
        members = rng.permutation(np.flatnonzero(truth.network[p]))
        parts[f"r{p}"] = (members[::2], members[1::2])
    return parts


def test_the_network_is_bit_for_bit_the_blind_one(truth, blind, halves):
    known = {name: names(shown) for name, (shown, _) in halves.items()}
    model = RCweb(P, prior=known).fit(truth.data)
    for attribute in ("components_", "edge_probability_", "edge_score_", "projection_"):
        np.testing.assert_array_equal(getattr(model, attribute), getattr(blind, attribute))
    again = blind.guide(known)
    np.testing.assert_array_equal(again.prior_probability_, model.prior_probability_)
    pd.testing.assert_frame_equal(again.prior_, model.prior_)


def test_right_lists_are_supported_and_their_hidden_members_found(blind, halves):
    known = {name: names(shown) for name, (shown, _) in halves.items()}
    table = blind.guide(known).prior_
    assert table["supported"].all()
    assert table["regulator"].nunique() == P
    # Zeros are exact here: the matching regulator knows its targets best.
    assert (table["evidence"] == "row").all()
    chosen = blind.new_targets()
    hidden = {(name, f"x{i}") for name, (_, rest) in halves.items() for i in rest}
    right = [pair in hidden for pair in zip(chosen["regulator"], chosen["target"])]
    assert len(right) > 0.7 * len(hidden)
    assert np.mean(right) > 0.93
    assert (chosen["probability"] > 0.5).all()
    # What another list holds is said: it may be that regulator's target instead.
    for row in chosen.itertuples():
        others = [n for n, members in known.items() if n != row.regulator and row.target in members]
        assert row.listed_by == ", ".join(others)


@pytest.mark.parametrize("seed", [1, 2])
def test_probabilities_of_unlisted_variables_sum_to_the_hidden_targets(seed):
    """Half of the targets of a row are listed, so that fewer are left among the others. With the
    density of the whole row the sum was 12 % too high."""
    truth = simulate(60, N, P, noise=0.5, random_state=seed)
    known = {f"r{p}": names(np.flatnonzero(truth.network[p])[::2]) for p in range(P)}
    model = RCweb(P, prior=known).fit(truth.data)
    assert (model.prior_["evidence"] == "row").all()
    assert model.prior_["supported"].all()
    hidden = (truth.network != 0).sum() - model.prior_listed_.sum()
    expected = model.prior_probability_[~model.prior_listed_].sum()
    assert expected == pytest.approx(hidden, rel=0.06)


def test_being_listed_raises_recall_and_false_members_stay_out(truth, blind, halves):
    rng = np.random.default_rng(3)
    known = {}
    for p, (name, (shown, _)) in enumerate(halves.items()):
        wrong = rng.choice(np.flatnonzero(truth.network[p] == 0), len(shown), replace=False)
        known[name] = names([*shown, *wrong])
    blind.guide(known)
    table, C = blind.prior_, truth.network
    assert table["reliability"].between(0.35, 0.65).all()
    seen = blind.prior_probability_ > 0.5
    listed = blind.prior_listed_
    true = C != 0
    assert (seen & listed & ~true).sum() <= 0.03 * (listed & ~true).sum()
    assert (seen & listed & true).sum() >= 0.9 * (listed & true).sum()


def test_random_lists_are_not_supported(blind):
    rng = np.random.default_rng(5)
    known = {f"random {k}": names(rng.choice(N, 12, replace=False)) for k in range(40)}
    table = blind.guide(known).prior_
    assert table["supported"].sum() <= 1
    out = table[~table["supported"]]
    assert (out[["reliability", "kept", "new"]] == 0).all(axis=None)
    lost = ~table["supported"].to_numpy()
    assert (blind.prior_probability_[lost] == 0).all()
    assert (blind.prior_activities(np.zeros((2, N)), return_std=True)[1][:, lost] == 1).all()


def test_of_two_sources_the_false_one_is_trusted_less(blind, halves):
    rng = np.random.default_rng(6)
    right = {name: names(shown) for name, (shown, _) in halves.items()}
    wrong = {name: names(rng.choice(N, len(m), replace=False)) for name, m in right.items()}
    blind.guide([("right", right), ("wrong", wrong)])
    trust = blind.prior_sources_.query("list == 'all'").set_index("source")["reliability"]
    assert trust["right"] > 0.8
    assert trust["wrong"] < 0.4
    assert blind.prior_["supported"].all()
    seen = blind.prior_probability_ > 0.5
    for k, name in enumerate(blind.prior_.index):
        only_wrong = sorted(set(wrong[name]) - set(right[name]))
        assert seen[k, [int(v[1:]) for v in only_wrong]].mean() < 0.35
        assert seen[k, [int(v[1:]) for v in right[name]]].mean() > 0.8


def test_a_list_inside_another_is_seen_only_together_with_it(blind, halves):
    shown = np.concatenate(halves["r0"])
    table = blind.guide({"whole": names(shown), "part": names(shown[:4])}).prior_
    assert table.loc["part", "together"] == "whole"
    assert table.loc["whole", "together"] == ""


def test_activities_follow_the_planted_ones_and_say_how_far(truth, blind, halves):
    known = {name: names(shown) for name, (shown, _) in halves.items()}
    blind.guide(known)
    activities, std = blind.prior_activities(truth.data, return_std=True)
    for p in range(P):
        r = np.corrcoef(activities[:, p], truth.activities[:, p])[0, 1]
        assert abs(r) > 0.75
        # The error expected for an activity of unit variance is about the error made.
        assert 0.4 < std[0, p] / np.sqrt(1 - r**2) < 2.5
    holes = truth.data.copy()
    holes[0, ::2] = np.nan
    some, wider = blind.prior_activities(holes, return_std=True)
    assert (wider[0] > std[0]).all()
    np.testing.assert_array_equal(some[1:], activities[1:])


def test_a_saved_model_is_still_guided(blind, halves, tmp_path):
    blind.guide({name: names(shown) for name, (shown, _) in halves.items()})
    save_model(blind, tmp_path / "model.rcweb")
    loaded = load_model(tmp_path / "model.rcweb")
    pd.testing.assert_frame_equal(loaded.prior_, blind.prior_)
    pd.testing.assert_frame_equal(loaded.new_targets(), blind.new_targets())


def test_lists_are_judged_alike_whatever_the_order_and_sign_of_columns(truth, blind, halves):
    known = {name: names(shown) for name, (shown, _) in halves.items()}
    table = blind.guide(known).prior_
    rng = np.random.default_rng(8)
    order, sign = rng.permutation(N), rng.choice([-1.0, 1.0], N)
    frame = pd.DataFrame(truth.data * sign, columns=names(range(N))).iloc[:, order]
    other = RCweb(P, prior=known).fit(frame).prior_
    pd.testing.assert_frame_equal(
        table[["supported", "regulator", "members"]], other[["supported", "regulator", "members"]]
    )
    assert (table["kept"] - other["kept"]).abs().max() <= 1


def test_small_effects_everywhere_call_for_co_variation():
    rng = np.random.default_rng(2)
    C = 0.4 * rng.normal(size=(8, 500))
    known = {}
    for p in range(8):
        members = rng.choice(500, 40, replace=False)
        C[p, members] += rng.choice([1.0, 2.0], 40)
        known[f"r{p}"] = names(members[:20])
        # Two regulators share what a list knows as one.
    merged = {f"m{k}": known[f"r{2 * k}"] + known[f"r{2 * k + 1}"] for k in range(4)}
    X = rng.normal(size=(100, 8)) @ C + rng.normal(size=(100, 500))
    model = RCweb(8, prior=merged).fit(X)
    assert (model.prior_["evidence"] == "co-variation").all()
    assert model.prior_["supported"].all()


def test_another_fit_forgets_the_lists(truth, halves):
    """They were judged by other regulators: a refit kept their tables, of the old shape."""
    model = RCweb(P, prior={name: names(shown) for name, (shown, _) in halves.items()})
    assert model.fit(truth.data).guided
    assert not model.set_params(prior=None).fit(truth.data[:, :200]).guided
    assert not hasattr(model, "prior_probability_")


def test_no_list_depends_on_the_order_of_lists(blind, halves):
    """Random lists of each structure come from a stream of their own."""
    known = {name: names(shown) for name, (shown, _) in halves.items()}
    known["wrong"] = names(np.random.default_rng(5).choice(N, 12, replace=False))
    table = blind.guide(known).prior_
    again = blind.guide(dict(reversed(known.items()))).prior_
    pd.testing.assert_frame_equal(again.loc[table.index], table)


def test_agreement_with_a_list_is_computed_once(blind, halves, monkeypatch):
    known = {name: names(shown) for name, (shown, _) in halves.items()}
    asked = []
    for evidence in (CoVariation, BlindRow):
        plain = evidence.agreement

        def counted(self, one, judged=None, plain=plain):
            if judged is None:
                asked.append((type(self).__name__, one.name))
            return plain(self, one, judged)

        monkeypatch.setattr(evidence, "agreement", counted)
    blind.guide(known)
    assert len(asked) == len(set(asked)) == 2 * len(known)


def test_what_cannot_be_guided_says_so(truth, blind):
    with pytest.raises(ValueError, match="method 'refined'"):
        RCweb(P, method="paper", prior={"a": names(range(5))}).fit(truth.data)
    with pytest.raises(ValueError, match="give prior too"):
        RCweb(P, groups=["a"] * N).fit(truth.data)
    with pytest.raises(AttributeError, match="call guide"):
        _ = RCweb(P, method="paper").fit(truth.data).prior_
    with pytest.raises(ValueError, match="cannot be guided"):
        RCweb(P, method="paper").fit(truth.data).guide({"a": names(range(5))})
    few = blind.guide({"good": names(range(9)), "tiny": ["x1", "x2"]})
    assert any("tiny" in warning for warning in few.warnings_)
