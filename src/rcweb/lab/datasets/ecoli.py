"""E. coli: PRECISE (278 RNA-seq samples), RegulonDB targets, the published iModulons."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pandas as pd

from rcweb.knowledge.genesets import GeneSets
from rcweb.lab.datasets.dataset import Dataset
from rcweb.lab.datasets.files import cache_folder, from_wheel

PACKAGE = "pymodulon==0.2.1"
INSIDE = "pymodulon/data/ecoli/"
CHECKSUMS = {
    "X.csv": "f4b6e705a0dd3699cfd416130d85e4f0b246432d9d295859a6a28195f760fb89",
    "M.csv": "6e247e862a6915185929679d1080dd6e856899a6b0f84d080987064f41130185",
    "trn.csv": "1d45af447a1d110346c14fa60df601cf38f83d9eb023bdc94e5ddc4cefb0eeb8",
    "gene_table.csv": "81a08e7a946c7b6a7e6560227b626650d6138c8e180e8f744603744ae2c64aa6",
    "sample_table.csv": "50068a6db1df0ca238d402d5884ba8eb25223d000cf2ea0808d406a84775e79e",
    "genome.gff3": "3c0c7f1b8962978603e2597af9816cb9e93358828b608b6b551a58f152ebf6fc",
    "imodulon_table.csv": "dfe00ad493342e74dd0790efaddc927f2d6c377ee67e21cc4f385eb3c67fb839",
}
SOURCE = (
    "PRECISE (Sastry et al. 2019), log2 TPM centred on the reference condition, RegulonDB 10.0, "
    "as in the Python package pymodulon 0.2.1 (MIT licence)."
)


def load_ecoli() -> Dataset:
    """Escherichia coli, PRECISE: 278 samples x 3,923 genes; returns a `Dataset`.

    known : 236 regulators of RegulonDB with the sign of their effect, described by the product of
        their gene
    terms : COG categories
    published : weights of the 92 iModulons, zero below their thresholds

    Fetched once by pip from a package index (files of a wheel, which is not installed), checked,
    and kept in `cache_folder`. Raises `DatasetError` if there is no index and no cache.
    """
    members = {INSIDE + name: checksum for name, checksum in CHECKSUMS.items()}
    stored = from_wheel(PACKAGE, members, cache_folder() / "ecoli-pymodulon-0.2.1")
    paths = {Path(member).name: path for member, path in stored.items()}
    # The file has genes in rows.
    expression = pd.read_csv(paths["X.csv"], index_col=0).T
    expression.index.name, expression.columns.name = "sample", "gene"
    genes = pd.read_csv(paths["gene_table.csv"], index_col=0).reindex(expression.columns)
    genes = genes.rename(columns={"gene_name": "symbol"})
    samples = pd.read_csv(paths["sample_table.csv"], index_col=0).reindex(expression.index)
    known = GeneSets.from_edges(
        pd.read_csv(paths["trn.csv"], keep_default_na=False),
        source="regulator",
        target="gene_id",
        weight="effect",
    )
    return Dataset(
        name="E. coli PRECISE",
        expression=expression.astype(np.float64),
        samples=samples.assign(group=samples["project"]),
        genes=genes,
        known=known.describe(_products(known.names, paths["genome.gff3"])),
        terms=_categories(genes["COG"]),
        source=SOURCE,
        published=_imodulons(paths["M.csv"], paths["imodulon_table.csv"]),
    )


def _products(regulators: Iterable[str], annotation: Path) -> dict[str, str]:
    """What each regulator is; a pair such as ``flhD;flhC`` by its first gene."""
    product = {}
    for line in annotation.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 9 and fields[2] == "CDS":
            # Column 9 of GFF3: key=value pairs, percent-encoded.
            facts = dict(part.split("=", 1) for part in fields[8].split(";") if "=" in part)
            product[facts.get("gene", "")] = unquote(facts.get("product", ""))
    return {name: product[first] for name in regulators if (first := name.split(";")[0]) in product}


def _categories(cog: pd.Series) -> GeneSets:
    annotated = cog[cog.notna() & (cog != "No COG Annotation")]
    return GeneSets.from_dict(
        {str(c): list(part.index) for c, part in annotated.groupby(annotated)}
    )


def _imodulons(weights: Path, table: Path) -> pd.DataFrame:
    """(92, genes): an iModulon holds the genes whose |weight| exceeds its published threshold."""
    M = pd.read_csv(weights, index_col=0)
    threshold = pd.read_csv(table, index_col=0)["threshold"].reindex(M.columns)
    return M.where(M.abs().gt(threshold, axis=1), 0.0).T
