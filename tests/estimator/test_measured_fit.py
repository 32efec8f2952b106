"""``fit(X, measured=...)``: what is seen takes part, what is not changes nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb, load_model, save_model
from rcweb.engine.matching import match_rows, row_correlation
from rcweb.lab.simulate import simulate

COLUMNS = {
    "factor", "regulator", "candidate", "n_samples", "correlation", "p", "q", "confidence", "sign",
    "scale", "scale_low", "scale_high", "offset", "error", "used", "reason",
}  # fmt: skip


def measurements(truth, n, error, seed=0, n_factors=4):
    """Factors 1 + 3 r in n samples, r of unit variance, with an error in units of r."""
    rng = np.random.default_rng(seed)
    R = truth.activities[:, :n_factors]
    R = (R - R.mean(axis=0)) / R.std(axis=0)
    U = pd.DataFrame(1 + 3 * (R + error * rng.standard_normal(R.shape)), columns=list("abcd"))
    U.index = [f"s{m}" for m in range(len(U))]
    U.loc[rng.permutation(U.index)[n:]] = np.nan
    return U


def frame(truth):
    M, N = truth.data.shape
    names = {"index": [f"s{m}" for m in range(M)], "columns": [f"x{i}" for i in range(N)]}
    return pd.DataFrame(truth.data, **names)


@pytest.fixture(scope="module")
def noisy():
    """A table so noisy that the posterior has to be sampled: blind fit, and with four of twelve
    regulators measured in half of the samples."""
    truth = simulate(
        50, 120, 12, network="author_poisson", density=0.2, weights="author", noise=0.5,
        noise_convention="author", random_state=0,
    )  # fmt: skip
    U = measurements(truth, 25, 0.2)
    blind = RCweb(12, random_state=0).fit(frame(truth))
    return truth, U, blind, RCweb(12, random_state=0).fit(frame(truth), measured=U)


@pytest.fixture(scope="module")
def clear():
    """A table in which the blind fit finds everything."""
    truth = simulate(100, 150, 6, noise=0.2, random_state=1)
    return truth, RCweb(6, random_state=0).fit(frame(truth))


def accuracy(model, truth):
    """Correlation of every true row with the one assigned to it."""
    pairs = match_rows(model.weights_, truth.network)
    rho = np.abs(row_correlation(model.weights_, truth.network))[pairs.found, pairs.other]
    return rho[np.argsort(pairs.other)], dict(zip(pairs.other.tolist(), pairs.found.tolist()))


def test_measurements_improve_a_noisy_fit(noisy):
    """Rows of the measured regulators, and all rows on average, come nearer to the truth."""
    truth, _, blind, model = noisy
    before, after = accuracy(blind, truth)[0], accuracy(model, truth)[0]
    assert after[:4].mean() > before[:4].mean() + 0.02
    assert after.mean() > before.mean()


def test_identity_and_scale_come_out(noisy):
    """Every factor is named after the right row; at least three of four intervals of the scale hold
    the true 3, which has the sign of the correlation."""
    truth, _, _, model = noisy
    table = model.measured_
    assert set(table.columns) == COLUMNS
    assert table["used"].all()
    where = accuracy(model, truth)[1]
    assert table["regulator"].tolist() == [f"rcweb{where[k]}" for k in range(4)]
    true = 3 * table["sign"]
    assert ((table["scale_low"] < true) & (true < table["scale_high"])).sum() >= 3
    assert (np.sign(table["correlation"]) == table["sign"]).all()


def test_measurements_in_shuffled_order_change_nothing(noisy):
    """The blind fit, bit for bit, and every factor told as not seen."""
    truth, U, blind, _ = noisy
    rng = np.random.default_rng(5)
    wrong = U.copy()
    seen = U["a"].notna()
    wrong.loc[seen] = rng.permuted(U.loc[seen].to_numpy(), axis=0)
    model = RCweb(12, random_state=0).fit(frame(truth), measured=wrong)
    np.testing.assert_array_equal(model.components_, blind.components_)
    np.testing.assert_array_equal(model.weights_, blind.weights_)
    assert not model.measured_["used"].any()
    assert model.measured_["regulator"].isna().all()
    assert model.measured_["reason"].str.startswith("not seen in these data").all()


def test_a_clear_table_stays_as_it_is(clear):
    """Where the posterior has one mode factors are matched; the network is the blind one."""
    truth, blind = clear
    model = RCweb(6, random_state=0).fit(frame(truth), measured=measurements(truth, 10, 0.2))
    np.testing.assert_array_equal(model.components_, blind.components_)
    where = accuracy(model, truth)[1]
    assert model.measured_["regulator"].tolist() == [f"rcweb{where[k]}" for k in range(4)]
    assert not model.measured_["used"].any()


def test_names_of_samples_join_the_tables(clear):
    """Only the measured samples, in any order; the same table of results, in other units too."""
    truth, _ = clear
    X, U = frame(truth), measurements(truth, 10, 0.2)
    a = RCweb(6, random_state=0).fit(X, measured=U).measured_
    part = U.dropna().sample(frac=1, random_state=0)
    b = RCweb(6, random_state=0).fit(X, measured=part).measured_
    pd.testing.assert_frame_equal(a, b)
    c = RCweb(6, random_state=0).fit(X, measured=-10 * part + 7).measured_
    assert c["regulator"].tolist() == a["regulator"].tolist()
    np.testing.assert_allclose(c["p"], a["p"])
    np.testing.assert_allclose(c["scale"], -10 * a["scale"])
    with pytest.raises(ValueError, match="sample 'nobody' was measured"):
        RCweb(6).fit(X, measured=U.rename(index={"s3": "nobody"}))
    with pytest.raises(ValueError, match="join the two by sample name"):
        RCweb(6).fit(X.to_numpy(), measured=part)


def test_a_factor_that_is_two_regulators_is_told_so(clear):
    """Their sum is seen in the data, and named after neither."""
    truth, _ = clear
    R = truth.activities
    both = (R[:, 0] - R[:, 0].mean()) / R[:, 0].std() + (R[:, 1] - R[:, 1].mean()) / R[:, 1].std()
    model = RCweb(6, random_state=0).fit(truth.data, measured=both)
    row = model.measured_.iloc[0]
    assert row["q"] < 0.01
    assert row["regulator"] is None
    assert row["reason"] == "seen in these data, but no single regulator explains it"


def test_the_table_is_kept_in_the_model_file_and_dropped_by_another_fit(noisy, tmp_path):
    truth, _, _, model = noisy
    save_model(model, tmp_path / "model.rcweb")
    again = load_model(tmp_path / "model.rcweb")
    pd.testing.assert_frame_equal(again.measured_, model.measured_)
    again.set_params(method="paper").fit(truth.data)
    with pytest.raises(AttributeError, match="no measured factors"):
        _ = again.measured_


def test_matching_after_the_fit(clear):
    """`measure`, the published method and several studies: the network does not know of it."""
    truth, model = clear
    X, U = frame(truth), measurements(truth, 12, 0.2)
    activities = pd.DataFrame(model.transform(X), X.index, model.get_feature_names_out())
    assert model.measure(activities, U).measured_["regulator"].notna().all()
    paper = RCweb(6, method="paper").fit(X, measured=U)
    assert not paper.measured_["used"].any()
    with pytest.raises(ValueError, match="for one table"):
        RCweb(6).fit(X, batch=["a"] * 50 + ["b"] * 50, measured=U)
