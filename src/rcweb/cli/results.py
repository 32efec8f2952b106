"""The result folder: written as a whole, read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcweb.cli.kept import KNOWLEDGE_FILE, knowledge_to_bytes, read_knowledge
from rcweb.cli.knowledge import Annotations, Knowledge

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.estimator import RCweb
    from rcweb.network import Network

NETWORK_FILES = ("network.tsv", "network.graphml", "network.cyjs", "network.gmt")
PRIOR_FILES = ("prior.tsv", "prior_targets.tsv", "new_targets.tsv", "prior_sources.tsv")
PRIOR_ACTIVITIES = "prior_activities.tsv"
DATA_FILES = ("data.h5ad", "networks.png", PRIOR_ACTIVITIES)  # which only a fit can write
FILES = (
    *NETWORK_FILES,
    *DATA_FILES,
    *PRIOR_FILES,
    KNOWLEDGE_FILE,
    "activities.tsv",
    "activities_std.tsv",
    "regulators.tsv",
    "studies.tsv",
    "terms.tsv",
    "measured.tsv",
    "model.rcweb",
    "provenance.json",
    "report.html",
)


@dataclass(frozen=True)
class Result:
    """A fitted model with its samples and the record of how it was made.

    activities : (samples, regulators); activities_sd : their standard deviations, if asked for
    data : the table it was fitted to, None if read back
    knowledge : what was known when it was written; None if it is new and not read back
    prior_activities : of known lists, if read back with them
    batch : study of each sample of `data`, if there are several
    """

    model: RCweb
    activities: pd.DataFrame
    provenance: Mapping[str, Any]
    data: pd.DataFrame | None = None
    knowledge: Knowledge | None = None
    activities_sd: pd.DataFrame | None = None
    prior_activities: pd.DataFrame | None = None
    batch: Sequence[str] | None = None

    def variance(self, which: str) -> float | None:
        """The "total" variance of the data, or the share "explained"; None if not counted."""
        value: float | None = self.provenance.get("variance", {}).get(which)
        return value


def write_result(
    out: str | Path,
    result: Result,
    knowledge: Knowledge | None = None,
    annotations: Annotations | None = None,
    *,
    h5ad: bool = False,
    extra: Mapping[str, bytes] | None = None,
    keep: bool = False,
    overwrite: bool = False,
) -> Path:
    """Write all files of a result to `out`; a killed run leaves the old folder or the new one.

    `extra` are further files, ``{name: content}``, with names among `FILES`; `keep` those that the
    fit wrote and that cannot be written without its data.
    """
    from rcweb.estimator import save_model
    from rcweb.network.formats import tsv
    from rcweb.storage.folder import replacing_folder

    knowledge, annotations = knowledge or Knowledge(), annotations or Annotations()
    knowledge = _with_explained(knowledge, result)
    # Activities of lists judged earlier are not those of new lists.
    stale = PRIOR_ACTIVITIES if knowledge.prior is not None else None
    kept = tuple(name for name in DATA_FILES if name != stale) if keep else ()
    prior_targets = _prior_targets(result.model)
    prior_activities = _prior_activities(result, again=knowledge.prior is not None)
    with replacing_folder(out, FILES, result.provenance, keep=kept, overwrite=overwrite) as folder:
        texts = _texts(result, annotations, prior_targets)
        if prior_activities is not None:
            texts[PRIOR_ACTIVITIES] = tsv(prior_activities, index=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8", errors="replace", newline="")
        for name, content in (extra or {}).items():
            (folder / name).write_bytes(content)
        save_model(result.model, folder / "model.rcweb")
        (folder / KNOWLEDGE_FILE).write_bytes(knowledge_to_bytes(knowledge))
        if h5ad:
            _write_h5ad(folder / "data.h5ad", result, knowledge, prior_activities)
        # `annotate` does not have the data; it updates the names in the old file.
        elif keep and (Path(out) / "data.h5ad").exists():
            _rename_h5ad(Path(out) / "data.h5ad", folder / "data.h5ad", result.model.network_)
        lists = {"prior_targets": prior_targets, "prior_activities": prior_activities}
        _write_report(folder / "report.html", result, knowledge, annotations, lists)
    return Path(out)


def read_result(out: str | Path) -> Result:
    """A result folder without the data."""
    from rcweb.estimator import load_model
    from rcweb.storage.ownership import check_regular
    from rcweb.storage.provenance import read_provenance
    from rcweb.tables import ReadOptions, TableError, read_table

    out = Path(out)
    files = ("model.rcweb", "provenance.json", "activities.tsv", "activities_std.tsv")
    for name in (*files, PRIOR_ACTIVITIES):
        # The folder may come from a stranger: a link could point to any file.
        check_regular(out / name)
    if not (out / "model.rcweb").is_file():
        raise TableError(f"{out} is not a folder that `rcweb fit` wrote: it has no model.rcweb.")
    try:
        _, record = read_provenance(out)
        # Nothing to detect: rcweb wrote the file.
        as_written = ReadOptions(transpose=False, header=True, index=True, delimiter="\t")
        activities = read_table(out / "activities.tsv", as_written).frame()
        std = out / "activities_std.tsv"
        sd = read_table(std, as_written).frame() if std.is_file() else None
        lists = out / PRIOR_ACTIVITIES
        prior = read_table(lists, as_written).frame() if lists.is_file() else None
        knowledge = read_knowledge(out, len(activities))
    except (OSError, ValueError) as error:
        raise TableError(f"{out} is incomplete: {error}") from None
    model = load_model(out / "model.rcweb")
    # A user may have copied files of two results into one folder.
    ids = list(model.network_.regulators)
    if activities.shape[1] != len(ids) or (sd is not None and sd.shape != activities.shape):
        raise TableError(f"{out}: activities.tsv and model.rcweb do not belong together.")
    # The files title columns by name and id; inside, ids are used.
    activities = activities.set_axis(ids, axis="columns")
    sd = None if sd is None else sd.set_axis(ids, axis="columns")
    if prior is not None and len(prior) != len(activities):
        raise TableError(f"{out}: activities.tsv and {PRIOR_ACTIVITIES} do not belong together.")
    return Result(
        model, activities, record, knowledge=knowledge, activities_sd=sd, prior_activities=prior
    )


def _with_explained(knowledge: Knowledge, result: Result) -> Knowledge:
    """Add how well every variable is explained, while the data are at hand."""
    from rcweb.estimator.studies import with_common_mean
    from rcweb.report import gene_fit

    # Sparse tables are too large to be predicted as dense ones.
    if result.data is None or any("Sparse" in str(kind) for kind in set(result.data.dtypes)):
        return knowledge
    network, data = result.model.network_, result.data
    # Differences between the means of studies are not to be explained.
    if result.batch is not None:
        data = with_common_mean(result.model, data, result.batch)
    fit = gene_fit(data, result.activities, network.weights, network.targets)
    return replace(knowledge, gene_explained=fit)


def _prior_targets(model: RCweb) -> pd.DataFrame | None:
    """Members and new targets of known lists, for files and page; None if no list was judged."""
    from rcweb.estimator.targets import prior_target_table

    return prior_target_table(model) if model.guided else None


def _prior_activities(result: Result, again: bool) -> pd.DataFrame | None:
    """Activities of known lists; None without any, and without the data if the lists were judged
    `again`: those read back are of other lists."""
    from rcweb.estimator.targets import prior_activity_table

    if not result.model.guided:
        return None
    if result.data is None:
        return None if again else result.prior_activities
    table = prior_activity_table(result.model, result.data, result.batch)
    return table.set_axis(result.activities.index).rename_axis("sample")


def _texts(
    result: Result, annotations: Annotations, prior_targets: pd.DataFrame | None
) -> dict[str, str]:
    from rcweb.network.formats import tsv

    network = result.model.network_

    def by_sample(table: pd.DataFrame) -> str:
        titled = table.set_axis(list(network.regulator_labels), axis="columns")
        return tsv(titled.rename_axis("sample"), index=True)

    texts = {
        "network.tsv": network.to_tsv(),
        "network.graphml": network.to_graphml(),
        "network.cyjs": network.to_cytoscape(),
        "network.gmt": network.to_gmt(),
        "activities.tsv": by_sample(result.activities),
        "regulators.tsv": tsv(_regulators(result.model, annotations), index=True),
    }
    if result.activities_sd is not None:
        texts["activities_std.tsv"] = by_sample(result.activities_sd)
    if hasattr(result.model, "study_names_"):
        texts["studies.tsv"] = tsv(with_names(result.model.studies_, network))
    if annotations.terms is not None:
        texts["terms.tsv"] = tsv(with_names(annotations.terms, network))
    if annotations.measured is not None:
        texts["measured.tsv"] = tsv(with_names(annotations.measured, network))
    return texts if prior_targets is None else texts | _prior_texts(result, prior_targets)


def _prior_texts(result: Result, targets: pd.DataFrame) -> dict[str, str]:
    """What the data say about known targets."""
    from rcweb.network.formats import tsv

    model, network = result.model, result.model.network_
    targets = targets.copy()
    names = dict(zip(network.targets, network.target_names))
    targets.insert(2, "target_name", targets["target"].map(names))
    texts = {
        "prior.tsv": tsv(model.prior_, index=True),
        "prior_targets.tsv": tsv(targets),
        "new_targets.tsv": tsv(targets[targets["new"]].drop(columns=["listed", "new"])),
    }
    if len(model.prior_sources_):
        texts["prior_sources.tsv"] = tsv(model.prior_sources_)
    return texts


def _regulators(model: RCweb, annotations: Annotations) -> pd.DataFrame:
    """One row per regulator: its name, or its id again, its targets, its grade, its diagnosis."""
    table = model.diagnosis_ if annotations.names is None else annotations.names
    network = model.network_
    first = {
        "name": list(network.regulator_names),
        "n_targets": (network.weights != 0).sum(axis=1),
        "grade": list(network.grades),
    }
    rest = [column for column in table.columns if column not in first]
    return table.assign(**first)[[*first, *rest]].rename_axis("regulator")


def with_names(table: pd.DataFrame, network: Network) -> pd.DataFrame:
    """A table about regulators with their names in a last column."""
    names = dict(zip(network.regulators, network.regulator_names))
    return table.assign(regulator_name=table["regulator"].map(names))


def sheet_of(sheet: pd.DataFrame, samples: Sequence[str]) -> pd.DataFrame:
    """The rows of the sheet for the samples of the table, empty where it has none."""
    return sheet.reindex(list(samples)).fillna("")


def _write_h5ad(
    path: Path, result: Result, knowledge: Knowledge, prior_activities: pd.DataFrame | None
) -> None:
    from rcweb.estimator.anndata import fill_anndata, fill_prior_activities

    anndata = _anndata()
    adata = anndata.AnnData(result.data)
    if knowledge.sheet is not None:
        adata.obs = sheet_of(knowledge.sheet, adata.obs_names)
    fill_anndata(adata, result.model, result.activities)
    if prior_activities is not None:
        values, L = prior_activities.to_numpy(), len(result.model.prior_)
        fill_prior_activities(adata, values[:, :L], values[:, L:])
    adata.write_h5ad(path)


def _rename_h5ad(old: Path, new: Path, network: Network) -> None:
    """A copy of a file that holds this network, with its names."""
    from rcweb.estimator.anndata import fill_names

    adata = _anndata().read_h5ad(old)
    fill_names(adata, network)
    adata.write_h5ad(new)


def _anndata() -> Any:
    try:
        import anndata
    except ImportError:
        raise ImportError("Writing .h5ad needs anndata: pip install 'rcweb[anndata]'") from None
    return anndata


def _write_report(
    path: Path,
    result: Result,
    knowledge: Knowledge,
    annotations: Annotations,
    lists: Mapping[str, pd.DataFrame | None],
) -> None:
    """`lists` : targets and activities of known lists, if there are any."""
    from rcweb.report import report_data, write_report

    tables = {
        "known": annotations.names,
        "terms": annotations.terms,
        "measured": annotations.measured,
    }
    samples = list(result.activities.index)
    model, targets = result.model, lists["prior_targets"]
    data = report_data(
        result.model,
        result.activities,
        sample_names=samples,
        sample_groups=knowledge.groups,
        annotations={key: table for key, table in tables.items() if table is not None} or None,
        gene_sets=knowledge.known,
        gene_table=knowledge.gene_table,
        gene_explained=knowledge.gene_explained,
        link=knowledge.link,
        contrasts=annotations.contrasts,
        associations=annotations.associations,
        prior=model.prior_ if model.guided else None,
        prior_targets=None if targets is None else targets.rename(columns={"regulator": "list"}),
        prior_activities=lists["prior_activities"],
        prior_grouped=bool(model.prior_grouped_) if model.guided else True,
        explained_variance=result.variance("explained"),
        provenance=_shown(result.provenance),
        title=knowledge.title or "Hidden regulators",
    )
    write_report(path, data)


def _shown(record: Mapping[str, Any]) -> dict[str, str]:
    """The record in a few lines, without its time, so that equal runs give equal pages."""
    shown = {"rcweb": str(record.get("rcweb", "")), "seed": str(record.get("seed", ""))}
    for role, facts in record.get("inputs", {}).items():
        checksum = str(facts.get("sha256", ""))[:16]
        shown[role] = f"{facts.get('file', '')}" + (f" (sha256 {checksum}...)" if checksum else "")
    for name, value in record.get("parameters", {}).items():
        if value is not None:
            shown[name] = str(value)
    return shown
