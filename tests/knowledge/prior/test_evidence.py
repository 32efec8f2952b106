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
    own = evidence.own(np.array([one.members, one.members]), one.confidence)
    for row in own:
        np.testing.assert_allclose(row, expected[one.members], rtol=2e-4, atol=2e-4)


def test_own_agreement_of_long_lists_does_not_depend_on_how_many_are_judged_at_once(rng):
    """Lists whose cosines do not fit together are judged in parts."""
    evidence = CoVariation.of(rng.normal(size=(900, 3)), np.arange(900) // 2, rng)
    members = np.array([rng.choice(900, 600, replace=False) for _ in range(5)])
    together = evidence.own(members, np.ones(600))
    for k, own in enumerate(members):
        expected = evidence.agreement(listed(own), own)
        np.testing.assert_allclose(together[k], expected, rtol=1e-4, atol=1e-4)


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
    [best], [others] = rows.choice(one.members[None], one.confidence)
    np.testing.assert_array_equal(
        rows.own(one.members[None], one.confidence)[0], rows.agreement(one, one.members)
    )
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
    drawn = RandomLists(evidence, groups).like(one, 50)
    assert len({tuple(sorted(members)) for members in drawn}) > 40
    for members in drawn:
        assert len(set(members)) == len(one)
        assert sorted(np.unique(groups[members], return_counts=True)[1]) == wanted


def test_random_lists_take_groups_of_the_same_sizes_where_there_are_others(rng):
    """100 groups of one, 30 of two, 20 of three, and one of nine that has no equal."""
    groups = np.repeat(np.arange(151), [1] * 100 + [2] * 30 + [3] * 20 + [9])
    size = np.bincount(groups)
    evidence = CoVariation.of(rng.normal(size=(len(groups), 4)), groups, rng)
    # Alone; both of two; one of three; two of the nine.
    one = listed([0, 1, 100, 101, 160, -1 % len(groups), -2 % len(groups)])
    drawn = RandomLists(evidence, groups).like(one, 40)
    for members in drawn:
        found, counts = np.unique(groups[members], return_counts=True)
        pairs = sorted(zip(counts.tolist(), size[found].tolist()))
        assert pairs[:3] == [(1, 1), (1, 1), (1, 3)]
        assert [count for count, _ in pairs[3:]] == [2, 2]
        assert (2, 2) in pairs[3:]


def test_scores_under_random_lists_keep_the_order_of_agreement(rng):
    """Variables between two random lists had equal scores, most of all where few lists reach."""
    random = RandomLists(CoVariation.of(rng.normal(size=(300, 6)), None, rng), None)
    pool = random._pool(10)
    t = np.linspace(pool[0] + 1e-9, pool[-1] + 1, 500_000)
    scores = random.normal(10, t)
    assert (np.diff(scores) > 0).all()
    # Pooled agreement itself becomes standard normal.
    found = np.quantile(random.normal(10, pool), [0.02, 0.5, 0.98])
    np.testing.assert_allclose(found, [-2.054, 0, 2.054], atol=0.002)


def p_of(lists, evidence, random):
    means = [
        random.normal(len(one), evidence.own(one.members[None], one.confidence)).mean()
        for one in lists
    ]
    standing = [random.standing(one, mean, 100) for one, mean in zip(lists, means)]
    return tail_probability(
        np.array([own for own, _ in standing]), np.concatenate([drawn for _, drawn in standing])
    )


def test_random_lists_have_uniform_p(rng):
    """Variables that share directions, as in a real table: chance agreement is no support."""
    V = rng.standard_t(3, size=(400, 8))
    evidence = CoVariation.of(V, None, rng)
    lists = [listed(rng.choice(400, n, replace=False)) for n in rng.integers(4, 20, 150)]
    p = p_of(lists, evidence, RandomLists(evidence, None))
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_random_lists_of_variables_without_a_group_have_uniform_p_though_they_go_together(rng):
    """In E. coli genes outside operons resemble each other. Compared with random lists that take
    one gene of an operon instead, lists of them stand out for no reason of their own."""
    alone = 120
    groups = np.repeat(np.arange(180), [1] * alone + [5] * 60)
    V = rng.normal(size=(len(groups), 8)) + rng.normal(size=(180, 8))[groups]
    V[:alone, 0] += 2
    evidence = CoVariation.of(V, groups, rng)
    lists = [listed(rng.choice(alone, n, replace=False)) for n in rng.integers(5, 20, 150)]
    random = RandomLists(evidence, groups)
    p = p_of(lists, evidence, random)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert (p < 0.05).mean() < 0.1


def test_each_random_list_is_compared_with_the_others(rng):
    evidence = CoVariation.of(rng.normal(size=(60, 4)), None, rng)
    random = RandomLists(evidence, None)
    one = listed([0, 1, 4, 9, 17])
    t = evidence.own(random.like(one, 30), one.confidence)
    means = random.normal(len(one), t).mean(axis=1)
    standing, drawn = random.standing(one, 0.7, 30)
    assert standing == pytest.approx((0.7 - means.mean()) / means.std(ddof=1))
    for k in range(30):
        others = np.delete(means, k)
        expected = (means[k] - others.mean()) / others.std(ddof=1)
        assert drawn[k] == pytest.approx(expected)


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
