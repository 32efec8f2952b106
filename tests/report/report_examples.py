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


def contrast_table(model, groups=("hot", "cold"), reference="control", seed=1):
    """What `activity.contrast` gives, by chance."""
    rng = np.random.default_rng(seed)
    names = model.network_.regulators
    change = rng.normal(size=len(names) * len(groups))
    p = rng.uniform(size=len(change)) ** 4
    return pd.DataFrame(
        {
            "regulator": list(names) * len(groups),
            "group": np.repeat(groups, len(names)),
            "reference": reference,
            "change": change,
            "lower": change - 0.5,
            "upper": change + 0.5,
            "t": 4 * change,
            "p": p,
            "q": np.minimum(1, 2 * p),
        }
    )


def association_table(model, seed=2):
    """What `activity.associate` gives: a column of numbers and one of words."""
    rng = np.random.default_rng(seed)
    names = model.network_.regulators
    p = rng.uniform(size=2 * len(names)) ** 6
    return pd.DataFrame(
        {
            "regulator": [*names, *names],
            "column": np.repeat(["temperature", "strain"], len(names)),
            "kind": np.repeat(["number", "category"], len(names)),
            "statistic": rng.normal(size=len(p)),
            "effect": rng.uniform(-1, 1, len(p)),
            "n": 30,
            "p": p,
            "q": p,
        }
    )


def prior_tables(model):
    """A list that the data support and one that they do not, with their targets."""
    lists = pd.DataFrame(
        {
            "supported": [True, False],
            "p": [1e-6, 0.4],
            "q": [2e-6, 0.4],
            "reliability": [0.7, 0.1],
            "strength": [3.0, 0.2],
            "kept": [2, 0],
            "unseen": [1, 5],
            "new": [1, 0],
            "regulator": ["rcweb0", "its own"],
            "evidence": ["data", "list"],
        },
        index=["fur", "zur"],
    )
    targets = pd.DataFrame(
        [
            ("fur", "gene1", True, 0.9, 1.5),
            ("fur", "gene2", True, 0.1, 0.0),
            ("fur", "gene3", False, 0.8, -1.0),
            ("fur", "gene4", False, 0.2, 0.1),
        ],
        columns=["list", "target", "listed", "probability", "weight"],
    )
    return lists, targets


def prior_activities(model, seed=3):
    """Activities of the supported list of `prior_tables`, and their errors."""
    rng = np.random.default_rng(seed)
    M = len(model.activities)
    return pd.DataFrame({"fur": rng.normal(size=M), "fur std": rng.uniform(0.2, 0.4, M)})
