"""The record behind the page: what it takes from a model and from annotations."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_examples import fitted

from rcweb import RCweb
from rcweb.knowledge import GeneSets, match_measured, overlap_test
from rcweb.knowledge.enrichment import enrich
from rcweb.knowledge.names import name_regulators
from rcweb.lab.simulate import simulate
from rcweb.network import Network
from rcweb.report import report_data
from rcweb.report.gather import MAX_SAMPLES


def test_edges_are_those_of_the_network_surest_first(model):
    """Every edge of the network is on the page, with its own numbers, sorted by |score|."""
    data = report_data(model, model.activities)
    edges = {
        (regulator.id, data.genes[gene]): (weight, probability)
        for regulator in data.regulators
        for gene, weight, probability in zip(
            regulator.targets, regulator.weights, regulator.probabilities
        )
    }
    table = model.network_.edges()
    expected = dict(zip(zip(table.regulator, table.target), zip(table.weight, table.probability)))
    assert edges == expected
    assert data.n_edges == model.network_.n_edges
    for regulator in data.regulators:
        assert list(np.abs(regulator.scores)) == sorted(np.abs(regulator.scores), reverse=True)


def test_data_or_activities(model):
    """The width of the table says what it is; data go through transform and score."""
    from_data = report_data(model, np.zeros((30, 80)))
    from_activities = report_data(model, model.activities)
    assert from_data.regulators == from_activities.regulators
    assert from_data.explained_variance == 0.83
    assert "83% of the variance" in from_data.summary[0]
    assert from_activities.explained_variance is None
    with pytest.raises(ValueError, match=r"80 variables or 6 regulators .*\(30, 7\)"):
        report_data(model, np.zeros((30, 7)))


def test_names_of_samples_and_groups(model):
    """The index of a data frame names the samples; a wrong number of names is refused."""
    table = pd.DataFrame(model.activities, index=[f"array {m}" for m in range(30)])
    data = report_data(model, table, sample_groups=["a", None, np.nan] * 10)
    assert data.samples[3] == "array 3"
    assert data.groups[:3] == ("a", "", "")
    with pytest.raises(ValueError, match="sample_groups must have one entry per sample, 30; not 2"):
        report_data(model, table, sample_groups=["a", "b"])
    with pytest.raises(ValueError, match="sample_names must have"):
        report_data(model, table, sample_names=["a"])
    with pytest.raises(ValueError, match="gene_names must have one entry per variable, 80; not 1"):
        report_data(model, table, gene_names=["a"])


def test_many_samples_are_thinned_evenly():
    """A page for 100,000 cells must stay small; first and last sample stay."""
    model = fitted(n_samples=3 * MAX_SAMPLES)
    data = report_data(model, model.activities)
    assert data.n_samples == 3 * MAX_SAMPLES
    assert len(data.samples) == len(data.regulators[0].activities) == MAX_SAMPLES
    assert (data.samples[0], data.samples[-1]) == ("sample 1", f"sample {3 * MAX_SAMPLES}")


def test_known_regulator_found_missed_new(model, known_table):
    """The three lists part the targets and the measured members; the rest are counted."""
    targets = {model.network_.targets[n] for n in np.flatnonzero(model.network_.weights[1])}
    members = [*sorted(targets)[:4], "gene_not_in_table"]
    strangers = sorted(set(model.network_.targets) - targets)[:3]
    sets = {"Fur": members + strangers}
    data = report_data(model, model.activities, annotations=known_table, gene_sets=sets)
    known = data.regulators[1].known
    assert known is not None
    assert {data.genes[n] for n in known.found} == set(members[:4])
    assert {data.genes[n] for n in known.missed} == set(strangers)
    assert {data.genes[n] for n in known.new} == targets - set(members)
    assert (known.overlap, known.set_size, known.unmeasured) == (4, 7, 1)


def test_labels_follow_significance(model, known_table):
    """The best match has the smallest p; two of the same name are numbered; chance names none."""
    data = report_data(model, model.activities, annotations=known_table)
    assert [r.label for r in data.regulators[:4]] == ["Fur-2", "Fur", "rcweb2", "rcweb3"]
    assert data.regulators[1].known.overlap == 9
    assert "2 of 6 have known names (Fur, Fur-2)." in data.summary


def test_a_table_of_names_has_the_last_word(model):
    """Its names are shown as they are, such as that of a measured factor; empty means no name."""
    table = pd.DataFrame(
        {
            "best_known": ["Fur", "Crp", "", "Zur"],
            "name": ["Fur", "", "measured", "assayed"],
            "known_size": [9, 9, 0, 9],
            "q": [1e-4, 1e-2, 1.0, 0.7],
        },
        index=["rcweb0", "rcweb1", "rcweb2", "rcweb3"],
    )
    data = report_data(model, model.activities, annotations=table)
    assert [r.label for r in data.regulators[:4]] == ["Fur", "rcweb1", "measured", "assayed"]
    assert data.regulators[2].known is None
    assert data.regulators[1].known.name == "Crp"
    assert data.regulators[0].known.set_size == 9
    assert any(line.startswith("3 of 6 have known names") for line in data.summary)


def test_variance_below_zero_is_said_in_words(model):
    """-4546 % of the variance helps nobody."""
    model.score = lambda X: -45.46
    data = report_data(model, np.zeros((30, 80)))
    assert data.summary[0].startswith("6 hidden regulators explain nothing of the variance of 80")
    assert "%" not in data.summary[0]


def test_measured_factors_are_shown(model):
    """Those with a regulator first; a table without the columns of `match_measured` is refused."""
    rng = np.random.default_rng(0)
    activities = pd.DataFrame(model.activities, columns=model.network_.regulators)
    measured = pd.DataFrame({"noise": rng.normal(size=30), "kinase": -2 * model.activities[:, 3]})
    table = match_measured(activities, measured)
    data = report_data(model, model.activities, annotations={"measured": table})
    rows = [dict(zip(data.measured.columns, row)) for row in data.measured.rows]
    assert [row["factor"] for row in rows] == ["kinase", "noise"]
    assert [row["regulator"] for row in rows] == ["rcweb3", None]
    assert rows[0]["scale"] == pytest.approx(-2)
    with pytest.raises(ValueError, match="'measured' of annotations needs a column 'p'"):
        report_data(model, model.activities, annotations={"measured": table.drop(columns="p")})


def test_terms_are_sorted_and_labelled(model, term_table):
    """Terms stand with their own regulator, best first, with names instead of identifiers."""
    data = report_data(
        model,
        model.activities,
        annotations={"terms": term_table},
        gene_names={"gene3": "fepA"},
    )
    terms = data.regulators[0].terms
    rows = [dict(zip(terms.columns, row)) for row in terms.rows]
    assert [row["set"] for row in rows] == ["GO:1", "GO:2"]
    assert rows[0]["leading"] == "fepA"
    assert data.regulators[1].terms.rows == ()


def test_bad_annotations_are_named(model, known_table):
    """Errors say which table lacks which column."""
    with pytest.raises(ValueError, match="'known' of annotations needs a column 'set'; it has reg"):
        report_data(model, model.activities, annotations=known_table[["regulator"]])
    with pytest.raises(ValueError, match="known, terms, measured; not 'sets'"):
        report_data(model, model.activities, annotations={"sets": known_table})


def test_tables_of_interpret_fit():
    """The tables of `rcweb.knowledge` are taken as they come."""
    model = fitted()
    own = model.network_.target_sets()
    sets = GeneSets.from_dict({"Fur": own["rcweb2"], "Crp": own["rcweb4"]}, {"Fur": "iron"})
    expected = {"rcweb2": "Fur", "rcweb4": "Crp"}
    for known in (overlap_test(model, sets).best_sets(), name_regulators(model.network_, sets)):
        data = report_data(
            model,
            model.activities,
            annotations={"known": known, "terms": enrich(model, sets)},
            gene_sets=sets,
        )
        labels = {r.id: r.label for r in data.regulators if r.label != r.id}
        assert labels == expected
        fur = data.regulators[2]
        assert (fur.known.description, len(fur.known.found), fur.known.missed) == ("iron", 12, ())
        assert fur.terms.rows[0][:2] == ("Fur", "iron")


def test_fitted_estimator_fits():
    """The real estimator has every attribute the page reads."""
    truth = simulate(60, 40, 3, noise=0.0, random_state=0)
    model = RCweb(3, method="paper").fit(truth.data)
    data = report_data(model, truth.data, provenance={"seed": 0})
    assert len(data.regulators) == 3
    assert data.reason == model.reason_
    assert dict(data.regulators[0].diagnosis)["edges"] == len(data.regulators[0].targets)
    assert data.provenance == (("seed", "0"),)


def test_json_is_strict_and_rounded(model):
    """Browsers refuse NaN; four digits keep the page small; types survive."""
    text = report_data(model, model.activities).to_json()
    data = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert data["evidence"]["rows"][2] == [8, None]
    assert dict(data["regulators"][0]["diagnosis"]) == {"variance_share": 0.3, "converged": True}
    weights = [r["weights"] for r in data["regulators"]]
    exact = [r.weights for r in report_data(model, model.activities).regulators]
    np.testing.assert_allclose(weights, exact, rtol=5e-4)


def test_a_network_without_edges_is_said():
    """Nothing found is an answer, not a crash."""
    network = Network(np.zeros((1, 4)), np.zeros((1, 4)), np.zeros((1, 4)), ("a",), tuple("wxyz"))
    data = report_data(SimpleNamespace(network_=network), np.zeros((5, 1)))
    assert data.summary == ("No regulator was found for 4 variables over 5 samples.",)
