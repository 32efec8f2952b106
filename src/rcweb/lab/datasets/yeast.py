"""Yeast: the M3D compendium (247 experiments), MacIsaac's targets, GO."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from rcweb.knowledge.genesets import GeneSets, read_gmt
from rcweb.lab.datasets.dataset import Dataset
from rcweb.lab.datasets.files import DatasetError, checked, data_folder

CHECKSUMS = {
    "yeast_m3d_s98/expression.parquet": (
        "275a493e2e64122f04a10d49dacdd188cb4a97780ef84fe2d0e419a3387ae45c"
    ),
    "yeast_m3d_s98/samples.tsv.gz": (
        "ba379ed5118dd170d88ae290750654dd0e8a984a61448c1dff14952072169eab"
    ),
    "yeast_tf/macisaac2006.gmt": "49fba1c80143d10f3747db7f6b87ce61e053b46fbb32c4dc24ee99fbb41c7e81",
    "yeast_go/go_bp.gmt": "9d54c8697e827f4e260b94ac51c1323906de4d81d6a523ef6e4f13a967925e2c",
    "yeast_go/gene_names.tsv.gz": (
        "b00d5531f0349059f366672232b4a137e49eb996f669c1d114ebbb512c78dcc2"
    ),
}
SOURCE = (
    "M3D yeast S98 compendium as distributed with CoRegFlux; targets of MacIsaac et al. 2006; GO "
    "annotations of SGD, 2022-05 (CC BY 4.0)."
)
HOW = (
    "The yeast tables cannot be fetched automatically: their public sources are R data files "
    "(github.com/i3bionet/CoRegFlux, data/SC_EXP_DATA.rda), an annotation file and an edge list "
    "that need conversion. Put the converted files into one folder and name it in RCWEB_DATA; it "
    "must hold " + ", ".join(CHECKSUMS) + "."
)


def load_yeast() -> Dataset:
    """Yeast, M3D: 247 samples x 4,683 genes; returns a `Dataset`.

    known : 116 transcription factors of MacIsaac 2006
    terms : GO biological process

    Read from the folder named by the environment variable ``RCWEB_DATA``, checksums verified.
    Raises `DatasetError`, which says how to make the files, if they are not there.
    """
    folder = data_folder()
    if folder is None:
        raise DatasetError(HOW)
    absent = [name for name in CHECKSUMS if not (folder / name).is_file()]
    if absent:
        raise DatasetError(f"{folder} has no {absent[0]}. {HOW}")
    # All files before any is read: a mix of versions would give wrong results silently.
    paths = {name: checked(folder / name, checksum) for name, checksum in CHECKSUMS.items()}
    expression = _read_parquet(paths["yeast_m3d_s98/expression.parquet"])
    samples = pd.read_csv(paths["yeast_m3d_s98/samples.tsv.gz"], sep="\t", index_col=0)
    samples = samples.reindex(expression.index)
    names = pd.read_csv(
        # keep_default_na=False: an empty name is "", and a gene may be called "NA".
        paths["yeast_go/gene_names.tsv.gz"],
        sep="\t",
        index_col=0,
        keep_default_na=False,
    )
    genes = names.reindex(expression.columns)
    genes["symbol"] = genes["symbol"].where(genes["symbol"].fillna("") != "", genes.index)
    return Dataset(
        name="yeast M3D",
        expression=expression.astype(np.float64),
        samples=samples.assign(group=samples["series"]),
        genes=genes,
        known=_described(read_gmt(paths["yeast_tf/macisaac2006.gmt"]), names["description"]),
        terms=read_gmt(paths["yeast_go/go_bp.gmt"]),
        source=SOURCE,
    )


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError:
        raise ImportError("Reading parquet needs pyarrow: pip install 'rcweb[tables]'.") from None


def _described(sets: GeneSets, by_orf: pd.Series) -> GeneSets:
    """The file holds the factor's ORF as description; a sentence about it says more."""
    orfs = dict(zip(sets.names, sets.descriptions))
    return sets.describe({name: str(by_orf.get(orf, "")) for name, orf in orfs.items()})
