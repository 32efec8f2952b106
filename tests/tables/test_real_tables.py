"""Tables of real experiments: read whole, the right way round."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from rcweb.tables import read_table
from rcweb.tables.sheets import groups_of, read_sheet

pytestmark = pytest.mark.data

SHAPES = {
    "ecoli_precise/expression.parquet": (278, 3923),
    "yeast_m3d_s98/expression.parquet": (247, 4683),
    "yeast_gasch2000/expression.parquet": (173, 2993),
    "demo_brown/expression.parquet": (79, 186),
}


@pytest.fixture
def folder() -> Path:
    if "RCWEB_DATA" not in os.environ:
        pytest.skip("RCWEB_DATA does not name the folder of real tables")
    return Path(os.environ["RCWEB_DATA"])


@pytest.mark.parametrize("name", SHAPES)
def test_real_tables_have_the_stated_shape(folder, name):
    """Samples x genes, as the descriptions of the data say."""
    table = read_table(folder / name)
    assert table.shape == SHAPES[name]
    assert not np.isinf(np.asarray(table.values)).any()


@pytest.mark.parametrize("ending", [".csv", ".tsv.gz", ".parquet", ".h5ad"])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_a_real_table_with_genes_in_rows_is_turned(folder, tmp_path, ending):
    """Written as people keep it, genes in rows (but h5ad), it comes back to the same bits."""
    table = read_table(folder / "demo_brown/expression.parquet")
    genes, path = table.frame().T, tmp_path / f"genes{ending}"
    if ending == ".parquet":
        genes.to_parquet(path)
    elif ending == ".h5ad":
        pytest.importorskip("anndata").AnnData(table.frame()).write_h5ad(path)
    else:
        genes.to_csv(path, sep="\t" if "tsv" in ending else ",")
    again = read_table(path)
    assert (again.samples, again.variables) == (table.samples, table.variables)
    np.testing.assert_array_equal(again.values, table.values)


def test_a_real_sample_sheet_gives_groups(folder):
    """The sheet of the E. coli compendium joins with its table."""
    table = read_table(folder / "ecoli_precise/expression.parquet")
    groups = groups_of(read_sheet(folder / "ecoli_precise/samples.tsv.gz"), table.samples, None)
    assert groups is not None
    assert groups.nunique() > 1
    assert (groups != "").all()
