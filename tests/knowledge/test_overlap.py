"""Known target sets against a network: exact tails, corrections, assignment, speed."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import false_discovery_control, fisher_exact, kstest
from sklearn.exceptions import NotFittedError

from counting import count_calls
from rcweb import RCweb
from rcweb.knowledge import GeneSets, format_p, overlap_test
from rcweb.knowledge.hypergeometric import log_benjamini_hochberg, log_tail
from rcweb.knowledge.labels import as_network


def rational_tail(k: int, n: int, K: int, N: int) -> Fraction:
    """Slow twin: the sum of the definition in exact arithmetic."""
    total = sum(comb(K, j) * comb(N - K, n - j) for j in range(max(k, 0), min(n, K) + 1))
    return Fraction(total, comb(N, n))


def log_fraction(x: Fraction) -> float:
    return log(x.numerator) - log(x.denominator)


@given(st.data())
def test_tail_equals_rational_arithmetic(data):
    """Every size and overlap of a small universe, on both sides of the mode."""
    N = data.draw(st.integers(1, 60))
    n, K = data.draw(st.integers(0, N)), data.draw(st.integers(0, N))
    for k in range(max(0, n + K - N), min(n, K) + 1):
        exact = log_fraction(rational_tail(k, n, K, N))
        assert log_tail(k, n, K, N) == pytest.approx(exact, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize(
    ("k", "n", "K", "N"), [(60, 64, 70, 3923), (500, 500, 500, 5000), (2000, 2100, 2200, 20000)]
)
def test_tiny_tails_do_not_become_zero(k, n, K, N):
    """1e-300 and far below keep ten digits of their logarithm."""
    exact = log_fraction(rational_tail(k, n, K, N))
    assert log_tail(k, n, K, N) == pytest.approx(exact, rel=1e-10)
    assert exact < log(1e-70)


def test_tail_of_a_whole_grid_sums_from_impossible_to_certain():
    """Broadcasting: 0 below the support, -inf above it, falling in between."""
    tail = log_tail(np.arange(8), 5, 6, 9)
    assert tail[:3].tolist() == [0, 0, 0]
    assert np.isneginf(tail[6:]).all()
    assert (np.diff(tail[2:6]) < 0).all()


@pytest.fixture(scope="module")
def world():
    """40 regulators x 300 variables, 80 sets; set s7 is regulator 3, wholly."""
    rng = np.random.default_rng(4)
    targets = [f"v{n}" for n in range(300)]
    C = rng.standard_normal((40, 300)) * (rng.random((40, 300)) < 0.1)
    drawn = {f"s{s}": rng.choice(targets, rng.integers(5, 60), replace=False) for s in range(80)}
    drawn["s7"] = np.array(targets)[C[3] != 0]
    return C, targets, GeneSets.from_dict(drawn)


@pytest.mark.parametrize("signs", ["together", "apart", "positive", "negative"])
def test_table_agrees_with_fisher_exact_and_plain_sets(world, signs):
    """Slow twin: Python sets and scipy's one-sided Fisher test on 2 x 2 tables."""
    C, targets, sets = world
    table = overlap_test(C, sets, targets=targets, signs=signs).table()
    assert (np.diff(table["log10_p"]) >= 0).all()
    keep = {
        "+": lambda w: w > 0,
        "-": lambda w: w < 0,
        "+-": lambda w: w != 0,
    }
    for row in table.iloc[::37].itertuples():
        weights = C[int(row.regulator.removeprefix("rcweb"))]
        mine = {t for t, w in zip(targets, weights) if keep[row.sign](w)}
        theirs = set(sets.members[sets.names.index(row.set)])
        a, b, c = len(mine & theirs), len(mine - theirs), len(theirs - mine)
        p = fisher_exact([[a, b], [c, 300 - a - b - c]], alternative="greater").pvalue
        assert (row.overlap, row.n_targets, row.set_size) == (a, a + b, a + c)
        assert row.p == pytest.approx(p, rel=1e-9)


# What gseapy 1.3.1 (`gseapy.enrich`, background = all 300 variables) gives for the same world.
GSEAPY = [
    (3, "s7", 30, 5.773897872530924e-42),
    (3, "s67", 10, 0.005346062003037201),
    (3, "s31", 8, 0.02647121457912336),
    (17, "s4", 10, 0.03622346461762553),
    (17, "s57", 4, 0.08498256024540092),
    (0, "s74", 6, 0.285079118408085),
    (0, "s49", 3, 0.6447386439813984),
    (3, "s59", 1, 0.8870686097638425),
]


@pytest.mark.parametrize(("regulator", "name", "overlap", "p"), GSEAPY)
def test_agrees_with_gseapy(world, regulator, name, overlap, p):
    """Numbers of an independent program, stored; 216 pairs were compared when they were taken."""
    C, targets, sets = world
    result = overlap_test(C, sets, targets=targets)
    column = result.sets.names.index(name)
    assert result.overlap[regulator, column] == overlap
    assert result.log_p[regulator, column] == pytest.approx(log(p), abs=1e-10)


def test_every_kind_of_network_gives_the_same(world):
    """Array, sparse matrix, DataFrame, Network and fitted model are one thing."""
    C, targets, sets = world
    expected = overlap_test(C, sets, targets=targets).log_p
    frame = pd.DataFrame(C, columns=targets)
    network = as_network(C, targets=targets)
    model = SimpleNamespace(network_=network)
    for source in (frame, network, model):
        assert np.array_equal(overlap_test(source, sets).log_p, expected)
    assert np.array_equal(overlap_test(csr_array(C), sets, targets=targets).log_p, expected)


def test_corrections_are_over_all_pairs(world):
    """BH and Bonferroni count the pairs without overlap too; BH equals scipy's."""
    C, targets, sets = world
    result = overlap_test(C, sets, targets=targets)
    p = np.exp(result.log_p)
    assert np.exp(result.log_q).ravel() == pytest.approx(false_discovery_control(p.ravel()))
    assert np.exp(result.log_bonferroni) == pytest.approx(np.minimum(p * 40 * 80, 1))
    assert (np.exp(result.log_q) <= np.exp(result.log_bonferroni) + 1e-12).all()


def test_p_is_never_zero_in_the_table():
    """Identical sets of 400 among 4,000: p below the smallest float reads as a number, not 0."""
    targets = [f"v{n}" for n in range(4000)]
    mask = np.arange(4000)[None, :] < 400
    table = overlap_test(mask, GeneSets.from_dict({"same": targets[:400]}), targets=targets).table()
    row = table.iloc[0]
    assert row["p"] > 0
    assert row["log10_p"] == pytest.approx(-log(comb(4000, 400)) / log(10), rel=1e-10)
    assert format_p(row["log10_p"]).startswith("8.9e-564")


def test_p_values_of_random_sets_are_uniform():
    """Kolmogorov-Smirnov at 1e-3 after the usual randomisation of a discrete test."""
    rng = np.random.default_rng(11)
    targets = [f"v{n}" for n in range(2000)]
    C = rng.random((60, 2000)) < 0.04
    drawn = {f"s{s}": rng.choice(targets, rng.integers(20, 200), replace=False) for s in range(60)}
    result = overlap_test(C, GeneSets.from_dict(drawn), targets=targets)
    above = log_tail(result.overlap + 1, result.n_targets[:, None], result.set_sizes, 2000)
    u = rng.random(above.shape)
    p = np.exp(above) + u * (np.exp(result.log_p) - np.exp(above))
    # Pairs share a row or a column, so one set per regulator is tested: independent draws.
    assert kstest(np.diag(p), "uniform").pvalue > 1e-3
    assert (np.exp(result.log_bonferroni) < 0.05).sum() == 0


@given(st.integers(0, 2**32 - 1))
def test_permuting_variables_changes_nothing(seed):
    """Order of variables and of sets carries no information."""
    rng = np.random.default_rng(seed)
    targets = [f"v{n}" for n in range(30)]
    C = rng.standard_normal((3, 30)) * (rng.random((3, 30)) < 0.4)
    names = ["a", "b", "c", "d"]
    sets = {s: list(rng.choice(targets, rng.integers(1, 20), replace=False)) for s in names}
    order = rng.permutation(30)
    first = overlap_test(C, GeneSets.from_dict(sets), targets=targets, min_size=1)
    backwards = GeneSets.from_dict(dict(reversed(sets.items())))
    second = overlap_test(C[:, order], backwards, targets=[targets[n] for n in order], min_size=1)
    assert (first.overlap == second.overlap[:, ::-1]).all()
    assert np.allclose(first.log_p, second.log_p[:, ::-1])
    assert np.allclose(first.correlation, second.correlation[:, ::-1])


def test_universe_and_sizes(world):
    """Members outside the universe cannot be found and are not counted."""
    C, targets, sets = world
    half = targets[:150]
    result = overlap_test(C, sets, targets=targets, universe=half, min_size=10, max_size=20)
    inside = overlap_test(C[:, :150], sets, targets=half, min_size=10, max_size=20)
    assert result.n_universe == 150
    assert result.set_sizes.min() >= 10
    assert result.set_sizes.max() <= 20
    assert np.array_equal(result.log_p, inside.log_p)
    with pytest.raises(ValueError, match="not measured, such as 'alien'"):
        overlap_test(C, sets, targets=targets, universe=[*half, "alien"])


def test_correlation_equals_numpy(world):
    """The sparse formula equals corrcoef on dense rows, for memberships and for weights."""
    C, targets, sets = world
    result = overlap_test(C, sets, targets=targets)
    dense = np.corrcoef(np.vstack([C != 0, result.sets.matrix(targets).toarray()]))[:40, 40:]
    assert np.allclose(result.correlation, dense)
    weighted = GeneSets(
        sets.names,
        sets.descriptions,
        sets.members,
        tuple((2.0, *(-1.0,) * (len(m) - 1)) for m in sets.members),
    )
    result = overlap_test(C, weighted, targets=targets)
    B = weighted.matrix(targets, weighted=True).toarray()
    assert np.allclose(result.correlation, np.corrcoef(np.vstack([C, B]))[:40, 40:])


def test_assignment_finds_planted_names_once_each():
    """Known targets with errors: 10 of 15 regulators are known, the rest stays unnamed."""
    rng = np.random.default_rng(0)
    targets = [f"v{n}" for n in range(500)]
    C = rng.standard_normal((15, 500)) * (rng.random((15, 500)) < 0.08)
    wrong = rng.random((10, 500)) < 0.02
    known = {
        f"TF{p}": [t for t, hit in zip(targets, (C[p] != 0) ^ wrong[p]) if hit] for p in range(10)
    }
    for signs in ("together", "apart"):
        named = overlap_test(C, GeneSets.from_dict(known), targets=targets, signs=signs).assign()
        assert dict(zip(named["set"], named["regulator"])) == {
            f"TF{p}": f"rcweb{p}" for p in range(10)
        }


def test_assignment_is_the_best_of_all_permutations():
    """Slow twin: the sum of |correlation| over every one-to-one choice."""
    from itertools import permutations

    rng = np.random.default_rng(3)
    targets = [f"v{n}" for n in range(40)]
    C = rng.random((4, 40)) < 0.5
    sets = GeneSets.from_dict({f"s{s}": rng.choice(targets, 20, False) for s in range(4)})
    result = overlap_test(C, sets, targets=targets)
    best = max(
        sum(abs(result.correlation[i, j]) for i, j in enumerate(order))
        for order in permutations(range(4))
    )
    assert result.assign(alpha=1.0, min_claim=0.0)["correlation"].abs().sum() == pytest.approx(best)


def test_a_far_second_choice_is_no_name():
    """Two regulators with the targets of A; B shares a few: neither is called B."""
    targets = [f"v{n}" for n in range(400)]
    C = np.zeros((2, 400))
    C[:, :40] = 1
    sets = GeneSets.from_dict({"A": targets[:40], "B": targets[34:50]})
    result = overlap_test(C, sets, targets=targets)
    assert result.assign()["set"].tolist() == ["A"]
    assert sorted(result.assign(min_claim=0.1, correction="bh")["set"]) == ["A", "B"]


def test_empty_sides_give_empty_tables():
    """No set large enough, or a regulator without targets: an answer, not a crash."""
    targets = ["a", "b", "c", "d", "e", "f"]
    result = overlap_test(np.zeros((2, 6)), GeneSets.from_dict({"s": ["a"]}), targets=targets)
    for table in (result.table(), result.best_sets(), result.best_regulators(), result.assign()):
        assert table.empty
    result = overlap_test(np.zeros((2, 6)), GeneSets.from_dict({"s": targets}), targets=targets)
    assert result.best_sets()["p"].tolist() == [1.0, 1.0]


def test_wrong_arguments_are_named():
    """Errors say what was wrong and what to do."""
    sets = GeneSets.from_dict({"s": ["a"]})
    with pytest.raises(ValueError, match="pass targets="):
        overlap_test(np.eye(2), sets)
    with pytest.raises(NotFittedError):
        overlap_test(RCweb(2), sets)
    with pytest.raises(ValueError, match="not 1-d"):
        overlap_test(np.ones(3), sets, targets=["a"])
    with pytest.raises(ValueError, match="correction must be"):
        overlap_test(np.eye(2), sets, targets=["a", "b"]).assign(correction="holm")
    with pytest.raises(ValueError, match="signs must be one of"):
        overlap_test(np.eye(2), sets, targets=["a", "b"], signs="both")
    with pytest.raises(ValueError, match="max_q must lie"):
        overlap_test(np.eye(2), sets, targets=["a", "b"]).table(max_q=0)
    with pytest.raises(ValueError, match="universe of 5"):
        log_tail(1, 6, 2, 5)


@given(st.lists(st.floats(-800, 0), min_size=1, max_size=40))
def test_bh_is_monotone_and_at_least_p(values):
    """The order of p-values is kept and none becomes smaller."""
    log_p = np.array(values)
    log_q = log_benjamini_hochberg(log_p)
    order = np.argsort(log_p)
    assert (np.diff(log_q[order]) >= 0).all()
    assert (log_q >= log_p - 1e-12).all()
    assert log_q.max() <= 0


@pytest.mark.parametrize(
    ("log10_p", "text"),
    [(0.0, "1"), (-1.301, "0.05"), (-400.0, "1.0e-400"), (-7.0000001, "1.0e-7")],
)
def test_format_p(log10_p, text):
    """Readable at any size; a mantissa never rounds to 10."""
    assert format_p(log10_p) == text


def test_no_loop_over_pairs():
    """One sparse product for all pairs of regulators and sets: with eight times as many of both,
    64 times as many pairs, at most about eight times the calls (measured: five)."""

    def calls(n):
        rng = np.random.default_rng(0)
        targets = np.array([f"v{k}" for k in range(500)])
        C = rng.random((5 * n, 500)) < 0.05
        sets = {f"s{s}": rng.choice(targets, 20, False) for s in range(50 * n)}
        known = GeneSets.from_dict(sets)
        return count_calls(lambda: overlap_test(C, known, targets=targets).table())

    assert calls(8) < 10 * calls(1)
