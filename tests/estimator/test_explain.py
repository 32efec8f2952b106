"""What the model says about one variable: found by any name, with shares that mean something."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from rcweb import RCweb, load_model, save_model
from rcweb.lab.simulate import simulate


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    truth = simulate(150, 100, 5, density=0.2, noise=0.2, random_state=0)
    names = [f"gene{n}" for n in range(100)]
    return pd.DataFrame(truth.data, [f"s{m}" for m in range(150)], names)


@pytest.fixture(scope="module")
def model(table) -> RCweb:
    fitted = RCweb(5, random_state=0).fit(table)
    return fitted.set_names({"rcweb1": "fur"}, {"gene3": "fepA", "gene4": "twin", "gene5": "twin"})


@pytest.fixture(scope="module")
def busiest(model) -> str:
    """The variable with the most regulators."""
    return str(model.network_.targets[(model.components_ != 0).sum(axis=0).argmax()])


def test_regulators_are_the_edges_of_the_variable(model, busiest):
    """As in the table of edges, with names and grades."""
    found = model.explain(busiest)
    edges = model.network_.edges()
    edges = edges[edges["target"] == busiest].reset_index(drop=True)
    assert len(found.regulators) > 1
    shared = ["regulator", "weight", "probability", "score"]
    pd.testing.assert_frame_equal(found.regulators[shared], edges[shared])
    assert found.regulators["name"].tolist() == edges["regulator_name"].tolist()
    assert found.noise == model.noise_[model.network_.targets.index(busiest)]
    certified = model.diagnosis_["certified"]
    assert [g == "certified" for g in found.regulators["grade"]] == [
        bool(certified[r]) for r in found.regulators["regulator"]
    ]


def test_shares_are_parts_of_what_is_explained(model, table, busiest):
    """The slow way: how far each regulator's term goes along with the whole prediction."""
    found = model.explain(busiest, table)
    x, R = table[busiest].to_numpy(), model.transform(table)
    n = table.columns.get_loc(busiest)
    C = model.components_[:, n]
    left = x - model.mean_[n] - R @ C
    assert found.explained == pytest.approx(1 - (left**2).sum() / ((x - x.mean()) ** 2).sum())
    whole = R @ C
    for regulator, share in zip(found.regulators["regulator"], found.regulators["share"]):
        p = model.network_.position(regulator)
        part = np.cov(R[:, p] * C[p], whole)[0, 1] / np.var(whole, ddof=1)
        assert share == pytest.approx(found.explained * part)
    assert found.regulators["share"].sum() == pytest.approx(found.explained)
    assert found.profile.index.tolist() == table.index.tolist()
    assert np.corrcoef(found.profile["measured"], found.profile["predicted"])[0, 1] > 0.9


def test_shares_without_data_are_close(model, table):
    """Activities, or the model alone, give nearly what the data give where the model is true: at
    20 % noise and 150 samples both were off by 0.001 on average over the variables."""
    R = model.transform(table)
    exact, near, far = (
        np.array([model.explain(v, **given).explained for v in table.columns])
        for given in ({"X": table, "activities": R}, {"activities": R}, {})
    )
    assert np.abs(near - exact).mean() < 0.01
    assert np.abs(far - exact).mean() < 0.01
    assert model.explain("gene0", activities=R).source == "activities"
    assert "measured" not in model.explain("gene0", activities=R).profile
    assert model.explain("gene0").profile is None


def test_found_by_id_or_name(model):
    assert model.explain("fepA").variable == model.explain("gene3").variable == "gene3"
    assert model.explain("gene3").name == "fepA"
    with pytest.raises(ValueError, match=r"No variable is called 'FEPa'; some are fepA"):
        model.explain("FEPa")
    with pytest.raises(ValueError, match="say which: gene4, gene5"):
        model.explain("twin")


def test_missing_values_and_sparse_tables(model, table, busiest):
    """Sums are over what was measured; a sparse table gives what the dense one does."""
    holes = table.copy()
    holes.loc[["s1", "s5"], busiest] = np.nan
    R = model.transform(holes)
    kept = holes[busiest].notna().to_numpy()
    some, rest = (
        model.explain(busiest, X, activities=A) for X, A in ((holes, R), (holes[kept], R[kept]))
    )
    assert some.explained == pytest.approx(rest.explained)
    dense = model.explain(busiest, activities=R, X=table.to_numpy())
    sparse = model.explain(busiest, activities=R, X=csr_array(table.to_numpy()))
    assert dense.explained == sparse.explained


def test_a_variable_without_regulators(model, table):
    lonely = [v for v in table.columns if model.explain(v).regulators.empty]
    found = model.explain(lonely[0], table)
    assert found.explained == pytest.approx(0, abs=1e-9)
    assert "no regulator has an edge to it" in str(found)


def test_other_methods_have_neither_grades_nor_unit_activities(table):
    """Without data or activities nothing is said about shares."""
    model = RCweb(5, method="paper").fit(table)
    target = model.network_.edges()["target"][0]
    found = model.explain(target)
    assert np.isnan(found.explained)
    assert found.regulators["share"].isna().all()
    assert set(found.regulators["grade"]) == {""}
    assert "Pass the data" in str(found)
    assert np.isfinite(model.explain(target, table).explained)


def test_text_has_heading_table_and_source(model, table, busiest):
    text = str(model.explain(busiest, table))
    assert text.startswith(f"{busiest}: ")
    assert "of its variance" in text
    assert text.endswith("measured in the data given.")


def test_wrong_input_is_named(model, table):
    with pytest.raises(ValueError, match="activities has 2 columns, but the model has 5"):
        model.explain("gene0", activities=np.zeros((4, 2)))
    with pytest.raises(ValueError, match="activities of 4 samples, but X has 150"):
        model.explain("gene0", table, activities=np.zeros((4, 5)))
    with pytest.raises(TypeError, match="not the path of a file"):
        model.explain("gene0", "table.npy")


def test_a_loaded_model_explains_the_same(model, table, busiest, tmp_path):
    save_model(model, tmp_path / "model.rcweb")
    loaded = load_model(tmp_path / "model.rcweb")
    assert str(loaded.explain(busiest, table)) == str(model.explain(busiest, table))


def test_nothing_explained_has_no_shares(model, table, busiest):
    """Weights that predict worse than the mean: shares of a negative whole would turn all signs."""
    wrong = table.copy()
    wrong[busiest] = model.mean_[table.columns.get_loc(busiest)] - wrong[busiest]
    found = model.explain(busiest, wrong, activities=model.transform(table))
    assert found.explained < 0
    assert found.regulators["share"].isna().all()
    assert "which predict it no better than its mean does" in str(found)
    assert "%" not in str(found)
    assert str(found).endswith("so there are no shares of variance.")


def test_a_variable_without_variance_is_said(model, table, busiest):
    for few in (table.iloc[:1], table.assign(**{busiest: np.nan})):
        text = str(model.explain(busiest, few))
        assert text.endswith("does not vary in the data given: there is no variance to share.")
