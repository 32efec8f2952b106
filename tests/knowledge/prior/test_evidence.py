"""Agreement with a list: against plain loops, and without a variable's own group."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rcweb.knowledge.prior.evidence import BlindRow, CoVariation
from rcweb.knowledge.prior.lists import TargetList
from rcweb.knowledge.prior.mixture import learn_targets, target_log_odds
from rcweb.knowledge.prior.random_lists import RandomLists, tail_probability


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def listed(members, sign=None, confidence=None):
    n = len(members)
    sign = np.ones(n) if sign is None else np.asarray(sign, float)
    confidence = np.ones(n) if confidence is None else np.asarray(confidence, float)
    return TargetList("known", "", np.asarray(members), sign, confidence)


def plain_agreement(V, one, groups):
    """The formula of `CoVariation`, entry by entry."""
    N = len(V)
    U = V / np.linalg.norm(V, axis=1, keepdims=True)
    t = np.zeros(N)
    for i in range(N):
        c = np.array([U[i] @ U[j] for j in range(N) if j != i])
        total = power = 0.0
        for j, weight in zip(one.members, one.confidence):
            if groups[i] == groups[j]:
                continue
            cosine = U[i] @ U[j]
            total += weight * (cosine**2 - (c**2).mean()) / (c**2).std()
            total += weight * (cosine - c.mean()) / c.std()
            power += weight**2
        t[i] = total / np.sqrt(power)
    return t


@pytest.mark.parametrize("grouped", [False, True])
def test_agreement_is_the_formula(rng, grouped):
    V = rng.normal(size=(40, 5))
    groups = np.arange(40) // 2 if grouped else np.arange(40)
    one = listed([0, 1, 4, 9, 17], [1, -1, 1, 0, 1], [1, 0.5, 1, 0.7, 1])
    evidence = CoVariation.of(V, groups if grouped else None, rng)
    expected = plain_agreement(V, one, groups)
    np.testing.assert_allclose(evidence.agreement(one), expected, rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(evidence.own(one), expected[one.members], rtol=2e-4, atol=2e-4)


def test_a_constant_variable_goes_with_nothing(rng):
    """Its agreement was a division by almost zero, and it came first in every list."""
    V = rng.normal(size=(60, 5))
    V[7] = 0
    agreement = CoVariation.of(V, None, rng).agreement(listed([0, 1, 4, 9, 17]))
    assert agreement[7] == 0
    assert np.isfinite(agreement).all()


@pytest.mark.parametrize("grouped", [False, True])
def test_a_member_is_judged_in_the_row_that_the_others_choose(rng, grouped):
    score = rng.normal(size=(6, 50))
    groups = np.arange(50) // 3 if grouped else np.arange(50)
    one = listed([0, 1, 2, 10, 30])
    rows = BlindRow.of(score, groups if grouped else None)
    best, others = rows.choice(one)
    assert best == rows.rows[:, one.members].sum(axis=1).argmax()
    for k, member in enumerate(one.members):
        rest = [j for j in one.members if groups[j] != groups[member]]
        assert others[k] == rows.rows[:, rest].sum(axis=1).argmax()


def test_random_lists_have_the_structure_of_the_list(rng):
    groups = rng.integers(0, 60, 200)
    groups = np.unique(groups, return_inverse=True)[1]
    evidence = CoVariation.of(rng.normal(size=(200, 4)), groups, rng)
    one = listed([*np.flatnonzero(groups == 3)[:3], *np.flatnonzero(groups == 8)[:2], 0])
    wanted = sorted(np.unique(groups[one.members], return_counts=True)[1])
    random = RandomLists(evidence, groups, rng)
    for _ in range(50):
        drawn = random.like(one)
        assert len(set(drawn.members)) == len(one)
        assert sorted(np.unique(groups[drawn.members], return_counts=True)[1]) == wanted


def test_random_lists_have_uniform_p(rng):
    """Variables that share directions, as in a real table: chance agreement is no support."""
    V = rng.standard_t(3, size=(400, 8))
    random = RandomLists(CoVariation.of(V, None, rng), None, rng)
    lists = [listed(rng.choice(400, n, replace=False)) for n in rng.integers(4, 20, 150)]
    standing = [random.standing(one, 100) for one in lists]
    p = tail_probability(
        np.array([s for s, _ in standing]), np.concatenate([r for _, r in standing])
    )
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_probability_never_falls_with_agreement_and_false_members_are_seen_through(rng):
    a = rng.normal(size=3000)
    members = np.arange(40)
    a[:24] += 4  # 16 of 40 members are no targets
    a[100:110] += 4  # targets that are not listed
    ones = np.ones(40)
    found = learn_targets(a, members, ones)
    assert 0.45 < found.reliability < 0.75
    odds = target_log_odds(a, members, ones, found)
    for part in (members, np.arange(40, 3000)):
        order = np.argsort(a[part])
        assert (np.diff(odds[part][order]) >= -1e-12).all()
    assert (odds[:24] > 0).mean() > 0.9
    assert (odds[24:40] > 0).mean() < 0.2
    assert (odds[100:110] > 0).mean() >= 0.5
    assert (odds[110:] > 0).mean() < 0.005
