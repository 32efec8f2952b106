"""Stand-ins for fitted models, for the tests of the report."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd

from rcweb.network import Network

HOSTILE = "<script>document.title='owned'</script>"


def fitted(n_regulators=6, n_genes=80, degree=12, n_samples=30, seed=0, genes=None):
    """Stand-in for a fitted model: what the report reads of one, with `transform` and `score`."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((n_regulators, n_genes))
    for row in weights:
        row[rng.choice(n_genes, degree, replace=False)] = rng.normal(size=degree)
    probability = np.where(weights != 0, rng.uniform(0.5, 1, weights.shape), 0.0)
    names = tuple(f"rcweb{p}" for p in range(n_regulators))
    genes = tuple(genes or (f"gene{n}" for n in range(n_genes)))
    activities = rng.normal(size=(n_samples, n_regulators))
    return SimpleNamespace(
        network_=Network(weights, probability, weights * probability, names, genes),
        singular_values_=np.sort(rng.exponential(5, n_regulators + 10))[::-1],
        reason_="Six singular values stand above the noise.",
        evidence_=pd.DataFrame({"n_components": [4, 6, 8], "gain": [0.3, 0.2, np.nan]}),
        diagnosis_=pd.DataFrame(
            {"variance_share": np.linspace(0.3, 0.1, n_regulators), "converged": True}
        ),
        warnings_=("One regulator is weak.",),
        transform=lambda X: activities,
        score=lambda X: 0.83,
        activities=activities,
    )
