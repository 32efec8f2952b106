"""AnnData slots: filled where scanpy users look, and still there after a file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from rcweb import RCweb
from rcweb.estimator.anndata import fill_anndata, fit_anndata
from rcweb.lab.simulate import simulate
from rcweb.tables import TableError

anndata = pytest.importorskip("anndata")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")


@pytest.fixture
def adata():
    data = simulate(60, 40, 3, noise=0.05, random_state=0).data
    frame = pd.DataFrame(data, [f"s{i}" for i in range(60)], [f"g{j}" for j in range(40)])
    result = anndata.AnnData(frame)
    result.layers["doubled"] = 2 * data
    return result


def test_slots_hold_what_the_model_says(adata):
    """obsm = activities, varm = network transposed, uns = parameters and diagnostics."""
    model = fit_anndata(adata, n_components=3, method="paper")
    X = adata.to_df()
    np.testing.assert_array_equal(adata.obsm["X_rcweb"], model.transform(X))
    np.testing.assert_array_equal(adata.varm["rcweb"], model.components_.T)
    np.testing.assert_array_equal(adata.varm["rcweb_probability"], model.edge_probability_.T)
    assert adata.uns["rcweb"]["parameters"]["method"] == "paper"
    assert tuple(model.network_.targets) == tuple(adata.var_names)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_batches_are_named_by_a_column_of_obs(adata, kind):
    """As ``fit(X, batch=labels)``; an offset between batches is no activity."""
    adata.obs["lane"] = pd.Categorical(["L1"] * 30 + ["L2"] * 30)
    X = adata.to_df()
    X.iloc[30:] += 5.0
    adata.X = kind(X.to_numpy())
    model = fit_anndata(adata, batch="lane", n_components=3)
    expected = RCweb(3).fit(X, batch=list(adata.obs["lane"]))
    np.testing.assert_array_equal(model.components_, expected.components_)
    assert np.abs(adata.obsm["X_rcweb"][:30].mean(axis=0)).max() < 0.1
    assert adata.uns["rcweb"]["batch"] == "lane"
    with pytest.raises(ValueError, match="no column 'day' in obs; it has 'lane'"):
        fit_anndata(adata, batch="day")


def test_slots_survive_a_file(adata, tmp_path):
    """Everything in uns can be written and comes back."""
    fit_anndata(adata, n_components=3, method="paper")
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    for slot, key in (("obsm", "X_rcweb"), ("varm", "rcweb")):
        np.testing.assert_array_equal(getattr(again, slot)[key], getattr(adata, slot)[key])
    assert list(again.uns["rcweb"]["regulators"]) == ["rcweb0", "rcweb1", "rcweb2"]
    assert len(again.uns["rcweb"]["diagnosis"]) == 3


def test_names_are_beside_the_ids(adata):
    """Names of regulators in uns, of variables in var, once the model has any."""
    model = fit_anndata(adata, n_components=3, method="paper")
    assert list(adata.uns["rcweb"]["regulator_names"]) == ["rcweb0", "rcweb1", "rcweb2"]
    assert "rcweb_name" not in adata.var
    model.set_names({"rcweb1": "fur"}, {"g0": "araC"})
    fill_anndata(adata, model, adata.obsm["X_rcweb"])
    assert list(adata.uns["rcweb"]["regulator_names"]) == ["rcweb0", "fur", "rcweb2"]
    assert list(adata.var["rcweb_name"][:2]) == ["araC", "g1"]


def test_a_layer_and_a_key_can_be_said(adata):
    """Scaling the data changes no edge, so the layer shows in the activities."""
    plain = fit_anndata(adata, n_components=3, method="paper")
    doubled = fit_anndata(adata, layer="doubled", key="twice", n_components=3, method="paper")
    assert adata.uns["twice"]["layer"] == "doubled"
    np.testing.assert_array_equal(plain.components_ != 0, doubled.components_ != 0)
    np.testing.assert_allclose(adata.obsm["X_twice"], 2 * adata.obsm["X_rcweb"], rtol=1e-8)
    with pytest.raises(TableError, match="no layer 'absent'"):
        fit_anndata(adata, layer="absent")


def test_model_and_parameters_exclude_each_other(adata):
    """Which would win? Neither."""
    with pytest.raises(TypeError, match="either a model or parameters"):
        fit_anndata(adata, model=RCweb(), method="paper")


def test_another_table_is_refused(adata):
    """A model of other variables must not be stored under these names."""
    model = RCweb(3, method="paper").fit(adata.to_df())
    with pytest.raises(ValueError, match="40 variables, the AnnData object 39"):
        fill_anndata(adata[:, :39].copy(), model, np.zeros((60, 3)))


def test_sparse_counts_are_taken(adata):
    """Single cells come as sparse matrices; the result is that of the dense table."""
    dense = fit_anndata(adata, n_components=3, method="paper")
    adata.X = sparse.csr_matrix(adata.X)
    again = fit_anndata(adata, n_components=3, method="paper")
    np.testing.assert_array_equal(again.components_, dense.components_)


def test_backed_objects_are_read_in_blocks(tmp_path) -> None:
    """A file that is only opened gives the network of the same object in memory."""
    X = simulate(300, 40, 3, noise=0.3, random_state=0).data
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")
    options = {"n_components": 3, "random_state": 0}
    here = fit_anndata(anndata.AnnData(X), **options)
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    there = fit_anndata(backed, **options)
    # Sums over samples are made in another order (docs/scale.md): same edges, weights to rounding.
    np.testing.assert_array_equal(here.components_ != 0, there.components_ != 0)
    np.testing.assert_allclose(here.components_, there.components_, atol=1e-10)
    np.testing.assert_allclose(
        backed.obsm["X_rcweb"],
        here.transform(pd.DataFrame(X, columns=list(map(str, range(40))))),
        atol=1e-10,
    )
    backed.file.close()


def test_known_lists_are_in_the_slots_with_activities_of_the_layer_that_was_fitted(adata):
    """Activities came from X whatever the layer, and without their errors."""
    network = simulate(60, 40, 3, noise=0.05, random_state=0).network
    known = {f"r{p}": [f"g{j}" for j in np.flatnonzero(network[p])] for p in range(3)}
    model = fit_anndata(adata, layer="doubled", n_components=3, prior=known)
    table = pd.DataFrame(adata.layers["doubled"], adata.obs_names, adata.var_names)
    activities, std = model.prior_activities(table, return_std=True)
    np.testing.assert_array_equal(adata.obsm["X_rcweb_prior"], activities)
    np.testing.assert_array_equal(adata.obsm["X_rcweb_prior_std"], std)
    np.testing.assert_array_equal(adata.varm["rcweb_prior"], model.prior_probability_.T)
    assert model.prior_["supported"].any()
    assert not np.allclose(activities, model.prior_activities(adata.to_df()))
