"""AnnData in and out: activities, weights and diagnostics in the slots where scanpy users look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from rcweb.storage.version import __version__

if TYPE_CHECKING:
    from anndata import AnnData

    from rcweb.estimator import RCweb
    from rcweb.network import Network


def fit_anndata(
    adata: AnnData,
    *,
    layer: str | None = None,
    batch: str | None = None,
    key: str = "rcweb",
    model: RCweb | None = None,
    measured: Any = None,
    **parameters: Any,
) -> RCweb:
    """Fit a network to ``adata.X`` (or a layer) and store it in `adata`; returns the fitted model.

    adata : AnnData object; a backed one is read in blocks (docs/scale.md)
    layer : the layer to fit instead of ``X``
    batch : column of ``adata.obs`` with the study of each sample; studies have one network, but own
        means and noise levels (docs/studies.md), and a sparse matrix is made dense for that
    key : replaces "rcweb" in the names of all slots
    model : an unfitted `RCweb`
    measured : regulators measured in some samples, as in ``RCweb.fit``
    **parameters : of `RCweb`, instead of a model

    Fills ``obsm["X_rcweb"]`` (samples x regulators, activities), ``varm["rcweb"]`` (variables x
    regulators, the network transposed), ``varm["rcweb_probability"]`` and ``uns["rcweb"]``
    (parameters, names and diagnostics). With a prior also ``varm["rcweb_prior"]``,
    ``uns["rcweb"]["prior"]`` and, of objects in memory, ``obsm["X_rcweb_prior"]`` and
    ``obsm["X_rcweb_prior_std"]`` (samples x lists, activities and their errors); with measured
    regulators ``uns["rcweb"]["measured"]``.

    Examples
    --------
    >>> from anndata import AnnData
    >>> from rcweb import fit_anndata
    >>> from rcweb.simulate import simulate
    >>> adata = AnnData(simulate(60, 40, 3, random_state=0).data)
    >>> model = fit_anndata(adata, n_components=3)
    >>> adata.obsm["X_rcweb"].shape, adata.varm["rcweb"].shape
    ((60, 3), (40, 3))
    """
    from rcweb.blocks import anndata_blocks
    from rcweb.estimator import RCweb
    from rcweb.tables.binary import anndata_grid
    from rcweb.tables.table import to_table

    if model is not None and parameters:
        raise TypeError(f"Give either a model or parameters, not both ({', '.join(parameters)}).")
    model = RCweb(**parameters) if model is None else model
    if batch is not None and batch not in adata.obs:
        titles = ", ".join(map(repr, adata.obs.columns))
        raise ValueError(f"There is no column {batch!r} in obs; it has {titles or 'none'}.")
    studies: dict[str, Any] = {} if batch is None else {"batch": adata.obs[batch].tolist()}
    # An estimator without support for sparse tables gets a dense one; means of studies need one.
    dense = batch is not None or not model.__sklearn_tags__().input_tags.sparse
    # A backed matrix stays on disk: loading it could exceed the memory.
    if adata.isbacked and batch is not None:
        raise ValueError("A table with batch= must be in memory: adata.to_memory().")
    if adata.isbacked:
        X: Any = anndata_blocks(adata, layer)
    else:
        X = to_table(anndata_grid(adata, layer), transpose=False).frame(dense=dense)
    known = {} if measured is None else {"measured": measured}
    model.fit(X, **studies, **known)
    fill_anndata(adata, model, model.transform(X, **studies), key=key)
    if model.guided and not adata.isbacked:
        found = model.prior_activities(X, return_std=True, **studies)
        fill_prior_activities(adata, *found, key=key)
    adata.uns[key]["layer"] = layer or "X"
    if batch is not None:
        adata.uns[key]["batch"] = batch
    return model


def fill_anndata(adata: AnnData, model: RCweb, activities: Any, *, key: str = "rcweb") -> None:
    """Store a fitted model and the activities of the samples (M, P) in the slots of `adata`.

    Names of regulators are in ``uns["rcweb"]["regulator_names"]``, one per id in ``"regulators"``;
    names of variables, where the model has any, in ``var["rcweb_name"]``.
    """
    network = model.network_
    if len(adata.var_names) != network.shape[1]:
        raise ValueError(
            f"The model has {network.shape[1]} variables, the AnnData object {adata.n_vars}."
        )
    adata.obsm[f"X_{key}"] = np.asarray(activities, dtype=np.float64)
    adata.varm[key] = network.weights.T.copy()
    adata.varm[f"{key}_probability"] = network.probability.T.copy()
    adata.uns[key] = {
        "version": __version__,
        # Not every version of anndata stores None; a missing entry means None.
        "parameters": {k: _storable(v) for k, v in model.get_params().items() if v is not None},
        "regulators": np.array(network.regulators, dtype=object),
        "reason": model.reason_,
        "warnings": np.array([*model.input_.warnings, *model.warnings_], dtype=object),
        "singular_values": model.singular_values_,
        "noise": model.noise_,
        "diagnosis": _storable_frame(model.diagnosis_),
    }
    if model.has_measured:
        adata.uns[key]["measured"] = _storable_frame(model.measured_)
    if model.guided:
        _fill_prior(adata, model, key)
    fill_names(adata, network, key=key)


def _fill_prior(adata: AnnData, model: RCweb, key: str) -> None:
    """Known lists: ``varm["rcweb_prior"]`` (variables x lists, probabilities) and what the data say
    of them, ``uns[...]["prior"]``."""
    adata.varm[f"{key}_prior"] = model.prior_probability_.T.copy()
    adata.uns[key]["prior"] = _storable_frame(model.prior_)


def fill_prior_activities(adata: AnnData, activities: Any, std: Any, *, key: str = "rcweb") -> None:
    """Store activities of known lists and the standard deviations of their errors, (M, L) each."""
    adata.obsm[f"X_{key}_prior"] = np.asarray(activities, dtype=np.float64)
    adata.obsm[f"X_{key}_prior_std"] = np.asarray(std, dtype=np.float64)


def fill_names(adata: AnnData, network: Network, *, key: str = "rcweb") -> None:
    """Store the names of regulators and of variables, as `fill_anndata` does."""
    adata.uns[key]["regulator_names"] = np.array(network.regulator_names, dtype=object)
    if network.target_names != network.targets:
        adata.var[f"{key}_name"] = list(network.target_names)


def _storable(value: Any) -> Any:
    """HDF5 holds numbers and text; a parameter that is neither is kept as text."""
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _storable_frame(frame: pd.DataFrame) -> pd.DataFrame:
    text = {c: frame[c].astype(str) for c in frame.columns if frame[c].dtype == object}
    return frame.rename(columns=str).assign(**{str(c): v for c, v in text.items()})
