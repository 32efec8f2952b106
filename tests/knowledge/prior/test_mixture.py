"""Members of a list are judged beside the unlisted variables."""

from __future__ import annotations

import numpy as np
from scipy.special import logit

from rcweb.knowledge.prior.mixture import learn_targets, member_log_odds


def test_members_are_judged_beside_unlisted_variables() -> None:
    """A list of alike members: unlisted variables scatter twice as much as random lists say. Wrong
    members are drawn from them; a probability near 1 must still mean a target."""
    rng = np.random.default_rng(0)
    right, sure = [], []
    for _ in range(40):
        a = 2 * rng.standard_normal(2000)
        members = np.arange(40)
        a[:16] = 6 + rng.standard_normal(16)
        odds, reliability = member_log_odds(a, members, np.ones(40), (0.5, 1.0))
        assert 0.35 < reliability < 0.6
        likely = odds > np.log(9)
        right += list(members[likely] < 16)
        sure.append(likely[:16].mean())
    assert np.mean(right) > 0.95  # 0.89 beside random lists
    assert np.mean(sure) > 0.9


def test_narrow_scatter_of_unlisted_variables_makes_nobody_surer() -> None:
    """Units are at least those of random lists: with standard normal ones nothing changes."""
    rng = np.random.default_rng(1)
    a = 0.5 * rng.standard_normal(3000)
    a -= np.median(a[10:])
    a[:10] = 4.0
    odds, reliability = member_log_odds(a, np.arange(10), np.ones(10), (0.5, 1.0))
    found = learn_targets(a, np.arange(10), np.ones(10))
    middle = np.median(a[10:])
    assert abs(middle) < 1e-12
    np.testing.assert_allclose(odds, logit(found.reliability) + found.ratio(a[:10]))
    assert reliability == found.reliability
