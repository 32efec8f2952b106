"""Contrasts, associations and known lists in the form of the page."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from report_examples import (
    association_table,
    contrast_table,
    fitted,
    prior_activities,
    prior_tables,
)

from rcweb.report import render_report, report_data
from rcweb.report.analyses import MOST_PAGE_ROWS


def test_contrasts_keep_their_numbers(model):
    """Every row of the table is there, with its regulator and its pair of groups."""
    table = contrast_table(model, groups=("hot", "cold"))
    data = report_data(model, model.activities, contrasts=table)
    found = data.contrasts
    assert found.comparisons == (("hot", "control"), ("cold", "control"))
    assert found.left_out == 0
    names = [model.network_.regulators[r] for r in found.regulator]
    assert names == table["regulator"].tolist()
    assert [found.comparisons[c][0] for c in found.comparison] == table["group"].tolist()
    for name in ("change", "lower", "upper", "t", "p", "q"):
        assert list(getattr(found, name)) == table[name].tolist()


def test_regulators_may_be_given_by_name_and_label(model):
    """Activities in files are titled "fur (rcweb0)"; an unknown name is an error that names it."""
    model.network_ = model.network_.rename({})
    table = contrast_table(model, groups=("hot",)).head(2)
    object.__setattr__(model.network_, "regulator_names", ("fur", *model.network_.regulators[1:]))
    for name in ("rcweb0", "fur", "fur (rcweb0)"):
        data = report_data(
            model, model.activities, contrasts=table.assign(regulator=[name, "rcweb1"])
        )
        assert data.contrasts.regulator == (0, 1)
    with pytest.raises(ValueError, match="'contrasts': no regulator is called 'lexA'"):
        report_data(model, model.activities, contrasts=table.assign(regulator="lexA"))


def test_associations_keep_columns_and_kinds(model):
    """A statistic may be a number or a word; a column has one kind."""
    table = association_table(model)
    data = report_data(model, model.activities, associations=table)
    assert data.associations.columns == (("temperature", "number"), ("strain", "category"))
    assert list(data.associations.effect) == table["effect"].tolist()
    assert list(data.associations.statistic) == table["statistic"].tolist()


@pytest.mark.parametrize("which", ["contrasts", "associations", "prior"])
def test_a_missing_column_is_named(model, which):
    """And what the table has instead."""
    tables = {
        "contrasts": contrast_table(model),
        "associations": association_table(model),
        "prior": prior_tables(model)[0],
    }
    broken = tables[which].drop(columns="q")
    with pytest.raises(ValueError, match=f"'{which}' needs a column 'q'; it has "):
        report_data(model, model.activities, **{which: broken})


def test_too_many_rows_leave_out_the_least_significant():
    """A page stays small; how many are left out is said."""
    model = fitted(40, 50)
    groups = [f"group {k}" for k in range(MOST_PAGE_ROWS // 40 + 25)]
    table = contrast_table(model, groups=groups)
    found = report_data(model, model.activities, contrasts=table).contrasts
    assert len(found.p) == MOST_PAGE_ROWS
    assert found.left_out == len(table) - MOST_PAGE_ROWS
    assert max(found.p) <= np.sort(table["p"])[MOST_PAGE_ROWS]


def test_120_regulators_and_40_groups_fit_a_page():
    """Below 2 MB with contrasts and associations of all of them."""
    model = fitted(120, 5000, degree=60, n_samples=300)
    groups = [f"group {k}" for k in range(40)]
    data = report_data(
        model,
        model.activities,
        sample_groups=[f"group {m % 41}" for m in range(300)],
        contrasts=contrast_table(model, groups=groups),
        associations=association_table(model),
    )
    assert len(data.contrasts.p) == 120 * 40
    assert len(render_report(data).encode()) < 2e6


def test_known_lists_hold_members_and_new_targets(model):
    """Targets neither listed nor seen are left out; the surest stand first."""
    lists, targets = prior_tables(model)
    fur, none = report_data(model, model.activities, prior=lists, prior_targets=targets).known_lists
    assert (fur.name, fur.supported, fur.regulator) == ("fur", True, 0)
    assert dict(fur.facts)["kept"] == 2
    assert [model.network_.targets[n] for n in fur.targets] == ["gene1", "gene3", "gene2"]
    assert fur.listed == (True, False, True)
    assert fur.probabilities == (0.9, 0.8, 0.1)
    assert (none.supported, none.regulator, none.targets) == (False, None, ())
    assert dict(none.facts)["regulator"] == "its own"
    with pytest.raises(ValueError, match="prior_targets: no variable is called 'gene999'"):
        report_data(
            model, model.activities, prior=lists, prior_targets=targets.assign(target="gene999")
        )


def test_supported_lists_hold_their_activities_with_errors(model):
    """One error for all samples where nothing is missing; none for a list without support."""
    lists, targets = prior_tables(model)
    given = prior_activities(model)
    told = {"prior": lists, "prior_targets": targets}
    fur, none = report_data(model, model.activities, **told, prior_activities=given).known_lists
    assert fur.activities == tuple(given["fur"])
    assert fur.std == tuple(given["fur std"])
    assert (none.activities, none.std) == ((), ())
    equal = given.assign(**{"fur std": 0.25})
    fur, _ = report_data(model, model.activities, **told, prior_activities=equal).known_lists
    assert fur.std == (0.25,)
    with pytest.raises(ValueError, match="needs a column 'fur std'"):
        report_data(model, model.activities, **told, prior_activities=given[["fur"]])
    with pytest.raises(ValueError, match="one row per sample"):
        report_data(model, model.activities, **told, prior_activities=given[1:])


def test_a_list_that_is_seen_only_with_another_says_so(model):
    lists, _ = prior_tables(model)
    shown = report_data(model, model.activities, prior=lists.assign(together=["crp", ""]))
    assert [dict(one.facts).get("together") for one in shown.known_lists] == ["crp", None]


@pytest.mark.parametrize("grouped", [True, False])
def test_lists_know_whether_groups_were_told_apart(model, grouped):
    lists, _ = prior_tables(model)
    shown = report_data(model, model.activities, prior=lists, prior_grouped=grouped)
    assert [dict(one.facts)["grouped"] for one in shown.known_lists] == [grouped] * 2


def test_pages_without_analyses_hold_none(model):
    """Nothing to show is nothing in the data, so no tab."""
    data = json.loads(report_data(model, model.activities).to_json())
    assert data["contrasts"]["comparisons"] == data["associations"]["columns"] == []
    assert data["known_lists"] == []


def test_missing_numbers_become_null(model):
    """A contrast of a single sample has no interval."""
    table = contrast_table(model, groups=("hot",))
    table.loc[0, ["lower", "upper"]] = np.nan
    data = json.loads(report_data(model, model.activities, contrasts=table).to_json())
    assert data["contrasts"]["lower"][0] is None
    assert pd.notna(data["contrasts"]["change"][0])
