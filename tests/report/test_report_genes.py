"""What the page says about single variables and about candidates for names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import fitted

from rcweb import RCweb
from rcweb.knowledge import GeneSets, name_regulators
from rcweb.lab.simulate import simulate
from rcweb.report import gene_fit, report_data
from rcweb.report.candidates import MOST_CANDIDATES
from rcweb.report.genes import LONGEST_TEXT, checked_link, gene_columns


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("javascript:alert('{id}')", "begins with https"),
        ("//example.org/{id}", "begins with https"),
        ("https://example.org/gene", "found none"),
        ("https://example.org/{gene}", "not {gene}"),
        ("https://{name}.example.org/{id}", "after the host"),
    ],
)
def test_unsafe_links_are_refused(model, template, message):
    """Only pages of the web, with the variable in its place and never in the host."""
    with pytest.raises(ValueError, match=message):
        report_data(model, model.activities, link=template)


def test_safe_links_stay_as_they_are(model):
    """The page fills in the variable, so the template is what it holds."""
    template = "https://example.org/gene?id={id}&name={name}"
    assert checked_link(template) == template
    assert report_data(model, model.activities, link=template).link == template
    assert report_data(model, model.activities).link == ""


def test_annotation_is_coded_and_ordered():
    """Wanted columns first, positions in one, what says nothing left out, long text cut."""
    table = pd.DataFrame(
        {
            "start": ["1", "20", ""],
            "end": ["9", "33", ""],
            "strand": ["+", "-", ""],
            "accession": "NC_1",
            "operon": ["ab", "ab", None],
            "Product": ["kinase", "x" * 500, "kinase"],
        },
        index=["a", "b", "c"],
    )
    product, position, operon = gene_columns(table, ["c", "b", "a", "unknown"])
    assert (product.title, product.codes) == ("Product", (0, 1, 0, -1))
    assert product.levels == ("kinase", "x" * LONGEST_TEXT)
    assert position.title == "position"
    assert [position.levels[k] for k in position.codes if k >= 0] == ["20..33 (-)", "1..9 (+)"]
    assert (operon.levels, operon.codes) == (("ab",), (-1, 0, 0, -1))
    assert gene_columns(None, ["a"]) == ()


@given(st.integers(0, 1000), st.floats(1e-3, 1e3))
def test_explained_share_is_that_of_the_formula(seed, unit):
    """1 - rest / total of every variable, in any unit; what is missing does not count."""
    rng = np.random.default_rng(seed)
    R, C = rng.normal(size=(20, 3)), rng.normal(size=(3, 7))
    X = (R @ C + rng.normal(size=(20, 7))) * unit
    X[0, 1] = np.nan
    found = gene_fit(X, R, C * unit, [f"g{n}" for n in range(7)])
    centred = X - np.nanmean(X, axis=0)
    rest = centred - (R - R.mean(axis=0)) @ C * unit
    share = 1 - np.nansum(rest**2, axis=0) / np.nansum(centred**2, axis=0)
    np.testing.assert_allclose(found, share, rtol=1e-9, atol=1e-9)


def test_explained_share_agrees_with_the_score():
    """Weighted by their variances the shares give `model.score`; a constant has no share."""
    truth = simulate(60, 40, 3, noise=0.2, random_state=0)
    X = np.column_stack([truth.data, np.full(len(truth.data), 2.0)])
    model = RCweb(3).fit(X)
    data = report_data(model, X)
    assert np.isnan(data.gene_explained[-1])
    mean = np.average(data.gene_explained[:-1], weights=X[:, :-1].var(axis=0))
    assert mean == pytest.approx(model.score(X), abs=1e-6)


def test_extreme_values_do_not_overflow():
    """1e200 squared is infinite; the share is not."""
    R = np.random.default_rng(0).normal(size=(10, 1))
    assert gene_fit(1e200 * R, R, np.array([[1e200]]), ["g"])["g"] == pytest.approx(1)


def test_activities_alone_tell_no_variance(model):
    """Without the data nothing is said, unless it was counted before."""
    assert report_data(model, model.activities).gene_explained == ()
    kept = pd.Series([0.5], index=["gene3"])
    data = report_data(model, model.activities, gene_explained=kept)
    assert data.gene_explained[3] == 0.5
    assert np.isnan(data.gene_explained[4])


def test_grades_are_shown_from_network_or_diagnosis(model):
    """The network knows them; a network made by hand may have a diagnosis that does."""
    grades = ("certified", "found", "unconfirmed", "found", "found", "found")
    model.network_ = replace(model.network_, grades=grades)
    assert [r.grade for r in report_data(model, model.activities).regulators] == list(grades)
    other = fitted()
    other.diagnosis_ = pd.DataFrame({"certified": [True] + [False] * 5, "found": True})
    graded = [r.grade for r in report_data(other, other.activities).regulators]
    assert graded == ["certified"] + ["found"] * 5
    assert "By grade: 1 certified, 5 found." in report_data(other, other.activities).summary
    plain = fitted()
    assert {r.grade for r in report_data(plain, plain.activities).regulators} == {""}


def test_candidates_are_the_best_overlaps(model):
    """At most five, best first, each with the numbers of the test it comes from."""
    own = model.network_.target_sets()["rcweb2"]
    sets = {f"set{k}": [*own[: 12 - k], *(f"gene{n}" for n in range(k))] for k in range(8)}
    known = name_regulators(model.network_, GeneSets.from_dict(sets))
    data = report_data(model, model.activities, annotations=known, gene_sets=sets)
    candidates = data.regulators[2].candidates
    assert len(candidates) == MOST_CANDIDATES
    chances = [c.p for c in candidates]
    assert chances == sorted(chances)
    assert candidates[0].name == data.regulators[2].known.name
    assert (candidates[0].overlap, candidates[0].set_size) == (12, 12)


def test_a_regulator_without_a_name_has_a_reason(model, known_table):
    """Chance, Bonferroni, nothing shared, no targets, unconfirmed: each in its own words."""
    names = pd.DataFrame(
        {
            "name": ["", "", "", "fur"],
            "best_known": ["arcA", "crp", "", "fur"],
            "overlap": [6, 9, 0, 12],
            "known_size": [40, 50, 0, 12],
            "p": [1e-2, 1e-4, 1.0, 1e-9],
            "q": [0.2, 0.01, 1.0, 1e-7],
            "bonferroni": [1.0, 0.3, 1.0, 1e-6],
        },
        index=["rcweb0", "rcweb1", "rcweb2", "rcweb3"],
    )
    data = report_data(model, model.activities, annotations=names)
    reasons = [r.unnamed for r in data.regulators]
    assert reasons[0] == "Best overlap arcA: 6 of 40 known targets, q = 0.2: not significant."
    assert reasons[1].startswith("Best overlap crp: 9 of 50 known targets, q = 0.01; a name needs")
    assert reasons[1].endswith("after Bonferroni correction, here 0.3.")
    assert reasons[2] == "No known regulator shares a target with it."
    assert reasons[3] == ""
    model.network_ = replace(model.network_, grades=("unconfirmed", *["found"] * 5))
    data = report_data(model, model.activities, annotations=names)
    assert "not drawn" in data.regulators[0].unnamed
    unknown = report_data(model, model.activities)
    assert {r.unnamed for r in unknown.regulators} == {""}, "nothing known, nothing to explain"
