"""Questionnaires and other tables of few variables, each of which belongs to one regulator."""

from __future__ import annotations

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.engine.matching import row_correlation


@pytest.mark.parametrize("seed", range(3))
def test_traits_of_a_questionnaire_are_found(seed: int) -> None:
    """Fifty questions on a scale of five steps, ten to a trait, and small effects of the others. A
    half of the questions is too few for long tails: FastICA ended anywhere, searches agreed on
    nothing, and no trait was found though all were right. Zeros show where to start."""
    rng = np.random.default_rng(seed)
    traits, questions = np.arange(50) // 10, np.arange(50)
    C = 0.05 * rng.standard_normal((5, 50))
    C[traits, questions] += rng.uniform(0.4, 0.9, 50) * rng.choice([-1, 1], 50)
    R = rng.multivariate_normal(np.zeros(5), 0.7 * np.eye(5) + 0.3, 800)
    answers = R @ C + 0.7 * rng.standard_normal((800, 50))
    model = RCweb(random_state=0).fit(np.clip(np.round(1.2 * answers + 3), 1, 5))
    assert model.n_components_ == 5
    assert model.diagnosis_["found"].all()
    assert np.abs(row_correlation(model.weights_, C)).max(axis=0).min() > 0.95
    edges = model.components_ != 0
    assert edges.sum() >= 50
