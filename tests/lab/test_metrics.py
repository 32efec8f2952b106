"""Recovery scores on networks small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb.lab.metrics import score_network

TRUE = np.array([[1.0, -2.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]])


def test_perfect_up_to_order_sign_and_scale() -> None:
    result = score_network(np.array([[-5.0], [2.0]]) * TRUE[::-1], TRUE)
    assert result.rho == pytest.approx(1)
    assert (result.precision, result.recall, result.f1) == (1, 1, 1)
    assert result.average_precision == 1


def test_a_repeat_counts_once() -> None:
    """Found twice the same: the author's score says 1, one-to-one says the second is missing."""
    result = score_network(TRUE[[0, 0]], TRUE)
    assert result.rho_best_match == pytest.approx(1)
    assert result.rho_per_regulator[0] == pytest.approx(1)
    assert result.rho < 0.8
    assert result.precision == 0.5
    assert result.recall == 0.5


def test_rows_not_found_count_zero() -> None:
    result = score_network(TRUE[:1], TRUE)
    np.testing.assert_allclose(result.rho_per_regulator, [1, 0])
    assert result.rho == pytest.approx(0.5)
    assert (result.precision, result.recall) == (1, 0.5)
    assert result.f1 == pytest.approx(2 / 3)


def test_nothing_found() -> None:
    result = score_network(np.empty((0, 6)), TRUE)
    assert (result.rho, result.f1, result.precision, result.recall) == (0, 0, 0, 0)
    assert result.rho_best_match == 0


def test_spare_rows_lower_precision() -> None:
    spare = np.vstack([TRUE, [[0.0, 0.0, 0.0, 0.0, 1.0, 1.0]]])
    result = score_network(spare, TRUE)
    assert result.rho == pytest.approx(1)
    assert result.precision == pytest.approx(4 / 6)
    assert result.recall == 1


def test_ranking_orders_edges() -> None:
    """Area under precision-recall: true edges last in the ranking score low, first score 1."""
    found = TRUE + 0.1
    good = np.where(TRUE != 0, 2.0, 1.0)
    assert score_network(found, TRUE, good).average_precision == 1
    assert score_network(found, TRUE, 1 / good).average_precision < 0.5


def test_without_true_edges() -> None:
    result = score_network(TRUE, np.zeros((2, 6)))
    assert (result.rho, result.f1, result.average_precision) == (0, 0, 0)
