"""A bent table is fitted as the straight one, in the user's units, by every way of giving it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb, load_model, save_model
from rcweb.lab.simulate import simulate

TRUTH = simulate(120, 200, 6, density=0.12, noise=0.3, random_state=0)
LEVEL = np.random.default_rng(0).normal(size=200)
STRAIGHT = LEVEL + TRUTH.data / TRUTH.data.std()
AMOUNTS = np.exp(0.6 * STRAIGHT)

pytestmark = pytest.mark.filterwarnings("ignore::rcweb.tables.check.InputWarning")


@pytest.fixture(scope="module")
def model() -> RCweb:
    return RCweb(random_state=0).fit(AMOUNTS)


def test_logs_are_taken_where_none_were(model: RCweb) -> None:
    """The regulators are those of the logs; of the table as it is, several are curves."""
    rows = np.abs(np.corrcoef(model.weights_ / model.response_slopes_, TRUTH.network))
    P = len(TRUTH.network)
    assert model.n_components_ == P
    assert rows[:P, P:].max(axis=0).min() > 0.99
    assert model.diagnosis_["certified"].all()
    assert any("a floor of" in note and "log(value" in note for note in model.warnings_)
    as_it_is = RCweb(response="linear", random_state=0).fit(AMOUNTS)
    assert as_it_is.response_.size == as_it_is.response_slopes_.size == 0
    assert as_it_is.diagnosis_["certified"].sum() < P


def test_weights_are_mean_effects_on_a_reading(model: RCweb) -> None:
    """An activity higher by one changes readings by its weights, on average."""
    R = model.transform(AMOUNTS)
    slopes = np.linalg.lstsq(R - R.mean(axis=0), AMOUNTS - AMOUNTS.mean(axis=0), rcond=None)[0]
    assert np.corrcoef(slopes.ravel(), model.weights_.ravel())[0, 1] > 0.95


def test_activities_and_predictions_of_new_samples(model: RCweb) -> None:
    """New readings are straightened, holes are left out, and what is predicted are readings."""
    R = model.transform(AMOUNTS)
    again = model.inverse_transform(R)
    assert (again > 0).mean() > 0.99
    log_error = np.log(np.maximum(again, 1e-9)) - 0.6 * STRAIGHT
    assert np.median(np.abs(log_error)) < 0.6 * TRUTH.noise_sd.mean() / TRUTH.data.std()
    holes = np.where(np.random.default_rng(1).random(AMOUNTS.shape) < 0.1, np.nan, AMOUNTS)
    close = [np.corrcoef(a, b)[0, 1] for a, b in zip(model.transform(holes).T, R.T)]
    assert min(close) > 0.99
    assert model.score(AMOUNTS) > 0.9
    profile = model.explain("x2", AMOUNTS).profile
    assert profile is not None
    assert np.corrcoef(profile["measured"], profile["predicted"])[0, 1] > 0.8


def test_saved_models_keep_it(model: RCweb, tmp_path: Path) -> None:
    save_model(model, tmp_path / "model.rcweb")
    again = load_model(tmp_path / "model.rcweb")
    np.testing.assert_array_equal(again.transform(AMOUNTS), model.transform(AMOUNTS))


def test_blocks_see_it_too(tmp_path: Path) -> None:
    """A table read in blocks: what some of its samples show is undone in all."""
    truth = simulate(6000, 60, 5, density=0.2, noise=0.3, random_state=1)
    X = np.exp(0.6 * truth.data / truth.data.std())
    np.save(tmp_path / "table.npy", X)
    model = RCweb(5, random_state=0).fit(np.load(tmp_path / "table.npy", mmap_mode="r"))
    assert model.route_ != "memory"
    rows = np.abs(np.corrcoef(model.weights_ / model.response_slopes_, truth.network))
    assert rows[:5, 5:].max(axis=0).min() > 0.99
    R = model.transform(X)
    assert np.abs(np.corrcoef(R.T, truth.activities.T))[:5, 5:].max(axis=0).min() > 0.98


@pytest.mark.parametrize(
    "options", [{"center": False}, {"method": "paper", "n_components": 6}], ids=str
)
def test_values_whose_zero_means_something_are_taken_as_they_are(options: dict) -> None:
    """Without centring, and by the published method."""
    assert RCweb(random_state=0, **options).fit(AMOUNTS).response_.size == 0


def test_studies_keep_their_own_scale() -> None:
    """Centred by study, readings have no common floor."""
    model = RCweb(6, random_state=0)
    model.fit(pd.DataFrame(AMOUNTS), batch=np.arange(120) % 2)
    assert model.response_.size == 0


def test_studies_in_blocks_keep_their_own_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where the joined table is read in blocks, which know nothing of studies."""
    monkeypatch.setattr("rcweb.blocks.recognise.block_rows", lambda N: 128)
    truth = simulate(600, 60, 5, density=0.2, noise=0.3, random_state=1)
    X = np.exp(0.6 * truth.data / truth.data.std())
    whole = RCweb(5, random_state=0).fit(X)
    assert whole.route_ == "gram"
    assert whole.response_.size == 4
    studies = RCweb(5, random_state=0).fit(X, batch=np.arange(600) % 2)
    assert studies.route_ == "gram"
    assert studies.response_.size == 0


def test_unknown_word() -> None:
    with pytest.raises(ValueError, match=r"response.*'log'"):
        RCweb(response="log").fit(AMOUNTS)


def test_what_stands_apart_among_amounts_need_not_among_logs(tmp_path: Path) -> None:
    """A single error is told in the table's own numbers, and no honest amount is taken for one; in
    memory and in blocks."""
    X = np.tile(AMOUNTS, (30, 1)) * np.random.default_rng(2).lognormal(0, 0.05, (3600, 200))
    honest = RCweb(6, random_state=0).fit(X[:120])
    assert not any("replaced" in note for note in honest.warnings_)
    X[7, 3] = 1e12
    np.save(tmp_path / "table.npy", X)
    for table in (X[:120], np.load(tmp_path / "table.npy", mmap_mode="r")):
        model = RCweb(6, random_state=0).fit(table)
        assert model.response_.size
        assert any("variable 3 (1e+12)" in note for note in model.warnings_), model.warnings_
