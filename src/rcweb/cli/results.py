"""The folder that a fit leaves: written as a whole, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcweb.cli.knowledge import Annotations, Knowledge

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.estimator import RCweb

NETWORK_FILES = ("network.tsv", "network.graphml", "network.cyjs", "network.gmt")
DATA_FILES = ("data.h5ad", "networks.png")  # which only a fit can write
FILES = (
    *NETWORK_FILES,
    *DATA_FILES,
    "activities.tsv",
    "regulators.tsv",
    "terms.tsv",
    "measured.tsv",
    "model.rcweb",
    "provenance.json",
    "report.html",
)


@dataclass(frozen=True)
class Result:
    """A fitted model with its samples and the record of how it was made.

    activities : (samples, regulators); data : the table it was fitted to, None if read back
    """

    model: RCweb
    activities: pd.DataFrame
    provenance: Mapping[str, Any]
    data: pd.DataFrame | None = None


def write_result(
    out: str | Path,
    result: Result,
    knowledge: Knowledge | None = None,
    annotations: Annotations | None = None,
    *,
    h5ad: bool = False,
    title: str = "Hidden regulators",
    extra: Mapping[str, bytes] | None = None,
    keep: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write all files of a result to `out`; a killed run leaves the old folder or the new one.

    `extra` are further files, ``{name: content}``, with names among `FILES`; `keep` those that the
    fit wrote and that cannot be written without its data.
    """
    from rcweb.io import save_model
    from rcweb.io.folder import replacing_folder

    knowledge, annotations = knowledge or Knowledge(), annotations or Annotations()
    kept = DATA_FILES if keep else ()
    with replacing_folder(out, FILES, result.provenance, keep=kept, overwrite=overwrite) as folder:
        for name, text in _texts(result, annotations).items():
            (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
        for name, content in (extra or {}).items():
            (folder / name).write_bytes(content)
        save_model(result.model, folder / "model.rcweb")
        if h5ad:
            _write_h5ad(folder / "data.h5ad", result, knowledge)
        _write_report(folder / "report.html", result, knowledge, annotations, title)
    return Path(out)


def read_result(out: str | Path) -> Result:
    """A result folder without the data."""
    from rcweb.io import ReadOptions, TableError, load_model, read_table
    from rcweb.io.ownership import check_regular
    from rcweb.io.provenance import read_provenance

    out = Path(out)
    for name in ("model.rcweb", "provenance.json", "activities.tsv"):
        check_regular(out / name)
    if not (out / "model.rcweb").is_file():
        raise TableError(f"{out} is not a folder that `rcweb fit` wrote: it has no model.rcweb.")
    try:
        _, record = read_provenance(out)
        as_written = ReadOptions(transpose=False, header=True, index=True, delimiter="\t")
        activities = read_table(out / "activities.tsv", as_written).frame()
    except (OSError, ValueError) as error:
        raise TableError(f"{out} is incomplete: {error}") from None
    return Result(load_model(out / "model.rcweb"), activities, record)


def _texts(result: Result, annotations: Annotations) -> dict[str, str]:
    from rcweb.network.formats import tsv

    network = result.model.network_
    texts = {
        "network.tsv": network.to_tsv(),
        "network.graphml": network.to_graphml(),
        "network.cyjs": network.to_cytoscape(),
        "network.gmt": network.to_gmt(),
        "activities.tsv": tsv(result.activities.rename_axis("sample"), index=True),
        "regulators.tsv": tsv(_regulators(result.model, annotations), index=True),
    }
    if annotations.terms is not None:
        texts["terms.tsv"] = tsv(annotations.terms)
    if annotations.measured is not None:
        texts["measured.tsv"] = tsv(annotations.measured)
    return texts


def _regulators(model: RCweb, annotations: Annotations) -> pd.DataFrame:
    """One row per regulator: its name where there is one, its targets, its diagnosis."""
    table = model.diagnosis_ if annotations.names is None else annotations.names.copy()
    if "n_targets" not in table.columns:
        n_targets = (model.network_.weights != 0).sum(axis=1)
        table.insert(int("name" in table.columns), "n_targets", n_targets)
    return table.rename_axis("regulator")


def sheet_of(sheet: pd.DataFrame, samples: Sequence[str]) -> pd.DataFrame:
    """The rows of the sheet for the samples of the table, empty where it has none."""
    return sheet.reindex(list(samples)).fillna("")


def _write_h5ad(path: Path, result: Result, knowledge: Knowledge) -> None:
    import anndata

    from rcweb.anndata import fill_anndata

    adata = anndata.AnnData(result.data)
    if knowledge.sheet is not None:
        adata.obs = sheet_of(knowledge.sheet, adata.obs_names)
    fill_anndata(adata, result.model, result.activities)
    adata.write_h5ad(path)


def _write_report(
    path: Path, result: Result, knowledge: Knowledge, annotations: Annotations, title: str
) -> None:
    from rcweb.report import report_data, write_report

    tables = {
        "known": annotations.names,
        "terms": annotations.terms,
        "measured": annotations.measured,
    }
    samples = list(result.activities.index)
    data = report_data(
        result.model,
        result.activities if result.data is None else result.data,
        sample_names=samples,
        sample_groups=knowledge.groups,
        annotations={key: table for key, table in tables.items() if table is not None} or None,
        gene_sets=knowledge.known,
        gene_names=knowledge.labels,
        provenance=_shown(result.provenance),
        title=title,
    )
    write_report(path, data)


def _shown(record: Mapping[str, Any]) -> dict[str, str]:
    """The record in a few lines. Not when it was made: the page depends on the run alone."""
    shown = {"rcweb": str(record.get("rcweb", "")), "seed": str(record.get("seed", ""))}
    for role, facts in record.get("inputs", {}).items():
        checksum = str(facts.get("sha256", ""))[:16]
        shown[role] = f"{facts.get('file', '')}" + (f" (sha256 {checksum}...)" if checksum else "")
    for name, value in record.get("parameters", {}).items():
        if value is not None:
            shown[name] = str(value)
    return shown
