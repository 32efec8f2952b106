"""The estimator: scikit-learn's contract, labels, invariants, and what it says of bad input."""

from __future__ import annotations

import importlib.util
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks
from threadpoolctl import threadpool_limits

from rcweb import RCweb
from rcweb.engine.basis import truncated_svd
from rcweb.engine.paper.column import Problem, SwitchBack
from rcweb.engine.paper.columns import find_columns
from rcweb.lab.metrics import score_network
from rcweb.lab.simulate import Simulation, simulate

HAS_REFINED = importlib.util.find_spec("rcweb.engine.refined") is not None
METHODS = ["paper", "refined"] if HAS_REFINED else ["paper"]


def problem(noise: float = 0.05, seed: int = 0, **options: object) -> Simulation:
    return simulate(80, 60, 4, density=0.15, noise=noise, random_state=seed, **options)


def paper(n_components: int | str = 4, **options: object) -> RCweb:
    return RCweb(n_components, method="paper", **options)


# --- scikit-learn's contract ---


@parametrize_with_checks([RCweb(method=method, random_state=0) for method in METHODS])
def test_scikit_learn_checks(estimator: RCweb, check: object) -> None:
    """Each of scikit-learn's checks, one by one, so that a failure has a name."""
    check(estimator)  # type: ignore[operator]


def test_checks_have_really_run() -> None:
    """A green run can have skipped them all: count those that passed, and that none was skipped."""
    results = check_estimator(RCweb(method="paper"), on_fail=None, on_skip=None)
    status = pd.Series([result["status"] for result in results]).value_counts()
    assert status.get("failed", 0) == 0
    assert status.get("skipped", 0) <= 2, status
    assert status["passed"] >= 44, status


@pytest.mark.parametrize("method", METHODS)
def test_labels_travel(method: str) -> None:
    """Names of a DataFrame reach the network and the activities; set_output gives frames."""
    sim = problem()
    frame = pd.DataFrame(
        sim.data,
        columns=[f"gene{i}" for i in range(60)],
        index=[f"sample{i}" for i in range(80)],
    )
    model = RCweb(4, method=method, random_state=0).set_output(transform="pandas").fit(frame)
    activities = model.transform(frame)
    assert list(activities.columns) == list(model.get_feature_names_out())
    assert list(activities.index) == list(frame.index)
    edges = model.network_.edges()
    assert set(edges["target"]) <= set(frame.columns)
    assert set(edges["regulator"]) <= {f"rcweb{i}" for i in range(model.n_components_)}
    assert list(model.diagnosis_.index) == list(model.get_feature_names_out())
    assert len(edges) == (model.components_ != 0).sum()


@pytest.mark.parametrize("method", METHODS)
def test_shapes_and_round_trip(method: str) -> None:
    """What design.md promises: shapes, transform on new samples, pickling, cloning, a pipeline."""
    sim = problem()
    model = RCweb(4, method=method, random_state=0).fit(sim.data[:60])
    P = model.n_components_
    for table in (model.components_, model.edge_probability_, model.edge_score_):
        assert table.shape == (P, 60)
        assert np.isfinite(table).all()
    assert model.projection_.shape == (60, P)
    assert model.noise_.shape == model.mean_.shape == (60,)
    assert model.rotation_.shape[1] == P
    assert isinstance(model.reason_, str)
    assert model.reason_
    new = model.transform(sim.data[60:])
    assert new.shape == (20, P)
    assert model.inverse_transform(new).shape == (20, 60)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(sim.data[60:]), new)
    assert clone(model).get_params() == model.get_params()
    piped = make_pipeline(StandardScaler(), clone(model)).fit_transform(sim.data)
    assert np.isfinite(piped).all()


def test_score_is_explained_variance() -> None:
    """The formula of the docstring, and 1 for a table without noise."""
    sim = problem(noise=0.0)
    model = paper().fit(sim.data)
    assert model.score(sim.data) == pytest.approx(1, abs=1e-12)
    noisy = problem(noise=0.3).data
    model = paper().fit(noisy)
    rest = noisy - model.inverse_transform(model.transform(noisy))
    expected = 1 - (rest**2).sum() / ((noisy - noisy.mean(axis=0)) ** 2).sum()
    assert model.score(noisy) == pytest.approx(expected)


# --- the published method through the estimator ---


def test_recovers_a_planted_network() -> None:
    """Noise-free and sparse: the exact network, and exact zeros outside it."""
    sim = simulate(150, 200, 10, noise=0.0, random_state=1)
    model = paper(10).fit(sim.data)
    result = score_network(model.components_, sim.network)
    assert result.rho == pytest.approx(1, abs=1e-9)
    assert result.f1 == 1
    assert model.warnings_ == () or model.warnings_[0].startswith("Constant")


def test_zeros_only_on_omega0_and_factors_reconstruct() -> None:
    """Before zeros are imposed R C is the approximation of rank P, to 1e-8."""
    sim = problem(noise=0.3)
    model = paper(degree=9).fit(sim.data)
    U, s, Vt = np.linalg.svd(sim.data, full_matrices=False)
    V = truncated_svd(sim.data, 4).V
    full = (V @ model.rotation_).T
    approximation = (U[:, :4] * s[:4]) @ Vt[:4]
    np.testing.assert_allclose(model.transform(sim.data) @ full, approximation, atol=1e-8)
    for row, c, trace in zip(full, model.components_, model.trace_):
        omega0 = np.setdiff1d(np.arange(60), trace.omega_minus)
        assert (c[omega0] == 0).all()
        np.testing.assert_allclose(c[trace.omega_minus], row[trace.omega_minus], atol=1e-12)
        assert len(trace.omega_minus) == 9


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_superfluous_regulators_are_discarded_and_counted(noise: float) -> None:
    """The paper's P* > P (section 4.3): three too many are asked for; it says why they go."""
    sim = simulate(150, 200, 10, noise=noise, random_state=1)
    model = paper(13).fit(sim.data)
    assert model.n_components_ == 10
    assert "3 superfluous" in model.reason_
    counts = model.evidence_.set_index("reason")["count"]
    assert counts["regulators found"] == 10
    assert counts.filter(like="superfluous").sum() == 3
    assert model.rotation_.shape == (13, 10)
    assert np.abs(model.rotation_[10:]).max() < (1e-10 if noise == 0 else 0.2)
    assert score_network(model.components_, sim.network).rho > 0.99


def test_number_of_regulators_is_found() -> None:
    assert paper("auto").fit(problem(noise=0.05).data).n_components_ == 4


def test_centring_is_the_authors_unless_asked() -> None:
    """The published method does not centre; the estimator's `center` overrides."""
    sim = problem()
    assert not paper().fit(sim.data).mean_.any()
    np.testing.assert_allclose(paper(center=True).fit(sim.data).mean_, sim.data.mean(axis=0))


def test_same_bits_whatever_the_threads() -> None:
    """The number of BLAS threads must not reach the answer."""
    data = simulate(200, 300, 20, noise=0.2, random_state=0).data
    answers = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            answers.append(paper(20, degree=30).fit(data).components_)
    np.testing.assert_array_equal(*answers)


# --- invariants ---

seeds = st.integers(0, 10**6)


def edges_of(X: np.ndarray) -> np.ndarray:
    return paper(degree=8).fit(X).components_


@given(seeds)
def test_permuting_variables_permutes_the_network(seed: int) -> None:
    sim = problem(seed=seed)
    order = np.random.default_rng(seed).permutation(60)
    np.testing.assert_allclose(
        edges_of(sim.data[:, order]), edges_of(sim.data)[:, order], atol=1e-8
    )


@given(seeds, st.floats(1e-120, 1e120))
def test_scaling_the_table_changes_no_edge(seed: int, factor: float) -> None:
    sim = problem(seed=seed)
    np.testing.assert_allclose(edges_of(factor * sim.data), edges_of(sim.data), atol=1e-8)


@given(seeds, st.integers(0, 59))
def test_flipping_a_variable_flips_its_edges(seed: int, flipped: int) -> None:
    """Rows may change sign as a whole, since the largest entry of a row is made positive."""
    sim = problem(seed=seed)
    sign = np.ones(60)
    sign[flipped] = -1
    expected, got = edges_of(sim.data) * sign, edges_of(sim.data * sign)
    rows = np.sign((expected * got).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(rows * got, expected, atol=1e-8)


# --- bad input ---


@pytest.mark.parametrize(
    ("X", "match"),
    [
        (np.full((5, 5), np.nan), "5 samples without any value"),
        (np.array([[1.0, np.inf], [2.0, 3.0], [4.0, 5.0]]), "infinity"),
        (np.ones((1, 5)), "1 sample"),
        (np.ones((5, 1)), "1 feature"),
        (np.ones((5, 6)), "0 of the 6 variables vary"),
        (np.array([["a", "b"], ["c", "d"], ["e", "f"]]), "could not convert string"),
    ],
)
@pytest.mark.parametrize("method", METHODS)
def test_bad_tables_are_named(X: np.ndarray, match: str, method: str) -> None:
    with pytest.raises(ValueError, match=match):
        RCweb(2, method=method).fit(X)


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n_components": 0}, ValueError, "n_components must be at least 1, not 0"),
        ({"n_components": 2.5}, TypeError, "not 2.5"),
        ({"n_components": True}, TypeError, "not True"),
        ({"n_components": "many"}, TypeError, "not 'many'"),
        ({"n_components": 20}, ValueError, "n_components=20 must be smaller than .* 20"),
        ({"n_components": 15}, ValueError, "n_components=15 is more than the rank .* 10"),
        ({"method": "magic"}, ValueError, "not 'magic'"),
        ({"degree": -3}, ValueError, "not -3"),
        ({"degree": "4"}, TypeError, "not '4'"),
        ({"degree": 20}, ValueError, "degree=20 must be smaller"),
        ({"fdr": 1.5}, ValueError, "not 1.5"),
        ({"fdr": "low"}, TypeError, "not 'low'"),
        ({"quality": "superb"}, ValueError, "not 'superb'"),
        ({"center": "yes"}, ValueError, "not 'yes'"),
        ({"paper_options": {"kk": 3}}, ValueError, "no 'kk'"),
        ({"paper_options": {"k": 0}}, ValueError, "at least 1, not 0"),
        ({"paper_options": {"epsilon": "small"}}, TypeError, "'small'"),
        ({"paper_options": {"switch_back": "never"}}, ValueError, "not 'never'"),
        ({"paper_options": 3}, TypeError, "not 3"),
    ],
)
def test_bad_parameters_are_named(options: dict, error: type[Exception], match: str) -> None:
    X = np.random.default_rng(0).random((10, 20))
    with pytest.raises(error, match=match):
        RCweb(**{"n_components": 2, "method": "paper", **options}).fit(X)


def test_unfitted_model_says_so() -> None:
    for call in ("transform", "inverse_transform", "score"):
        with pytest.raises(NotFittedError):
            getattr(paper(), call)(np.ones((3, 3)))
    with pytest.raises(NotFittedError):
        _ = paper().network_


def test_wrong_number_of_activities() -> None:
    model = paper().fit(problem().data)
    with pytest.raises(ValueError, match="3 columns, but the model has 4"):
        model.inverse_transform(np.ones((2, 3)))


@pytest.mark.parametrize("method", METHODS)
def test_constant_variables_keep_their_place(method: str) -> None:
    """No edges, no NaN; their value comes back, and the note says which they are."""
    X = problem().data.copy()
    X[:, [3, 17]] = [5.0, 0.0]
    model = RCweb(4, method=method, random_state=0).fit(X)
    assert not model.components_[:, [3, 17]].any()
    assert any("3, 17" in note for note in model.warnings_)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_array_equal(back[:, [3, 17]], X[:, [3, 17]])


@given(
    st.integers(1, 7),
    st.integers(1, 7),
    st.sampled_from(["auto", 1, 2, 3, 6]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from(["normal", "integer", "low_rank", "duplicate"]),
    seeds,
)
@pytest.mark.parametrize("method", METHODS)
def test_small_tables_give_an_answer_or_an_error(
    method: str, M: int, N: int, P: int | str, degree: int | None, kind: str, seed: int
) -> None:
    """Never a crash, never a silent NaN."""
    rng = np.random.default_rng(seed)
    X = {
        "normal": lambda: rng.standard_normal((M, N)),
        "integer": lambda: rng.integers(-1, 2, (M, N)).astype(float),
        "low_rank": lambda: rng.standard_normal((M, 1)) * rng.standard_normal(N),
        "duplicate": lambda: np.repeat(rng.standard_normal((M, 1)), N, axis=1),
    }[kind]()
    model = RCweb(P, method=method, degree=degree, random_state=0)
    try:
        model.fit(X)
    except ValueError:
        return
    assert model.n_components_ >= 1
    for values in (model.components_, model.transform(X), model.edge_score_, model.noise_):
        assert np.isfinite(values).all()


# --- claims of the paper ---


@pytest.mark.slow
def test_power_law_without_noise_every_column_accounted_for() -> None:
    """True power law, N=300: found and missing columns add up, and none is found twice."""
    for seed in range(3):
        sim = simulate(200, 300, 20, network="powerlaw", density=0.2, noise=0.0, random_state=seed)
        basis = truncated_svd(sim.data, 20)
        columns = find_columns(Problem(basis.V, basis.s, basis.noise, None), SwitchBack())
        assert columns.B.shape[1] + len(columns.missing) == 20
        cosines = np.abs(columns.B.T @ columns.B)
        assert (cosines - np.eye(len(cosines))).max() <= 0.95


def test_the_diagnosis_is_made_when_asked_for_and_travels_with_copies() -> None:
    """It takes time, so a fit leaves it; a copy holds its rows, and a second fit makes new ones."""
    one, two = (simulate(60, 40, 3, noise=0.1, random_state=seed).data for seed in (0, 1))
    model = RCweb(3, random_state=0).fit(one)
    assert "_diagnosis" not in vars(model)
    copied = pickle.loads(pickle.dumps(model))
    assert "_diagnose" not in vars(copied)
    pd.testing.assert_frame_equal(copied.diagnosis_, model.diagnosis_)
    first = model.diagnosis_
    pd.testing.assert_frame_equal(
        model.fit(two).diagnosis_, RCweb(3, random_state=0).fit(two).diagnosis_
    )
    assert not first.equals(model.diagnosis_)


@pytest.mark.parametrize("kind", ["clusters", "proportions"])
def test_activities_that_sum_to_a_constant_are_found(kind):
    """Centring loses a direction there: every row found was a difference of two regulators."""
    rng = np.random.default_rng(4)
    M, N, P = 150, 300, 6
    C = np.where(rng.random((P, N)) < 0.1, rng.uniform(0.5, 1.5, (P, N)), 0.0)
    R = np.eye(P)[np.arange(M) % P] if kind == "clusters" else rng.dirichlet(np.full(P, 0.5), M)
    X = R @ C + 0.05 * rng.standard_normal((M, N)) + 0.0
    model = RCweb(P).fit(X)
    best = np.abs(np.corrcoef(C, model.weights_)[:P, P:]).max(axis=1)
    assert best.min() > 0.95
    assert any("sum to a constant" in warning for warning in model.warnings_)
    assert (model.mean_ == 0).all()


@pytest.mark.parametrize("n_components", [5, "auto"])
def test_offsets_of_a_small_table_change_nothing(n_components):
    """Few of its rows are certified, more with means: by chance, since the rows are the same."""
    X = simulate(80, 90, 5, density=0.15, noise=0.2, random_state=1).data
    plain = RCweb(n_components).fit(X)
    shifted = RCweb(n_components).fit(X - 30 * np.arange(90))
    np.testing.assert_array_equal(shifted.components_ != 0, plain.components_ != 0)


def test_offsets_without_meaning_are_still_subtracted():
    truth = simulate(150, 300, 6, noise=0.3, random_state=2)
    offsets = np.random.default_rng(0).gamma(1, 5, 300)
    model = RCweb(6).fit(truth.data + offsets)
    assert not any("sum to a constant" in warning for warning in model.warnings_)
    assert (model.mean_ != 0).any()


@pytest.mark.parametrize("seed", range(3))
def test_a_dense_factor_is_reported_as_such(seed):
    """A batch that touches every variable is no regulator: it has no edges, and that is said. The
    sampler takes it for a background with a few edges, in one of two seeds."""
    truth = simulate(150, 300, 6, noise=0.3, random_state=2)
    rng = np.random.default_rng(0)
    batch = np.repeat([-1.0, 1.0], 75)[:, None] * rng.standard_normal((1, 300))
    plain, batched = (RCweb(random_state=seed).fit(X) for X in (truth.data, truth.data + batch))
    assert not any("no sparse form" in warning for warning in plain.warnings_)
    (told,) = [warning for warning in batched.warnings_ if "no sparse form" in warning]
    assert told.startswith("1 strong direction")
    assert plain.n_components_ == 6
    assert batched.n_components_ == 7
    assert batched.diagnosis_["found"].sum() == 6
    assert (batched.components_ != 0).any(axis=1).sum() == 6


def test_doubtful_edges_are_drawn_on_request_and_marked():
    """Few samples leave regulators unconfirmed; who wants their edges gets them, with the grade."""
    X = simulate(20, 150, 12, noise=0.6, random_state=0).data
    plain, all_drawn = (
        RCweb(12, doubtful=doubtful, random_state=0).fit(X) for doubtful in (False, True)
    )
    assert any("not drawn" in warning for warning in plain.warnings_)
    assert any("do not rely on them" in warning for warning in all_drawn.warnings_)
    assert "unconfirmed" not in set(plain.network_.edges()["grade"])
    extra = all_drawn.network_.edges()["grade"] == "unconfirmed"
    assert 0 < extra.sum() < len(extra)
    np.testing.assert_array_equal(plain.weights_, all_drawn.weights_)
