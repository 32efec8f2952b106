"""Reading tables: every format gives the same table, every mistake its place."""

from __future__ import annotations

import datetime
import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from counting import count_calls
from rcweb.tables import ReadOptions, TableError, read_table

SAMPLES = ("s1", "s2", "s3")
VARIABLES = ("lexA", "recA", "fur", "crp")
VALUES = np.array([[0.1, -2.0, 3.5, 1e-7], [1 / 3, 5.0, np.nan, 2.0], [7.0, 8.0, 9.0, 1e300]])


def frame() -> pd.DataFrame:
    return pd.DataFrame(VALUES, index=list(SAMPLES), columns=list(VARIABLES))


def write_npz(path):
    np.savez(path, X=VALUES, samples=np.array(SAMPLES), variables=np.array(VARIABLES))


def write_h5ad(path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(frame()).write_h5ad(path)


def write_zst(path):
    zstandard = pytest.importorskip("zstandard")
    path.write_bytes(zstandard.compress(frame().to_csv(sep="\t").encode()))


WRITERS = {
    "t.csv": lambda p: frame().to_csv(p),
    "t.tsv": lambda p: frame().to_csv(p, sep="\t"),
    "t.txt": lambda p: frame().to_csv(p, sep=";"),
    "t.csv.gz": lambda p: frame().to_csv(p),
    "t.tsv.zst": write_zst,
    "t.parquet": lambda p: frame().to_parquet(p),
    "t.xlsx": lambda p: frame().to_excel(p),
    "t.npz": write_npz,
    "t.h5ad": write_h5ad,
}


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_bits_and_names(tmp_path, name):
    """The format a table came in must not change the answer."""
    WRITERS[name](tmp_path / name)
    table = read_table(tmp_path / name)
    assert (table.samples, table.variables) == (SAMPLES, VARIABLES)
    np.testing.assert_array_equal(table.values, VALUES)
    assert len(table.sha256) == 64


def test_npy_gets_names_of_its_own(tmp_path):
    """A bare matrix is a table too."""
    np.save(tmp_path / "t.npy", VALUES)
    table = read_table(tmp_path / "t.npy")
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.variables == ("x0", "x1", "x2", "x3")


@pytest.mark.parametrize("layer", [None, "counts"])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_h5ad_reads_a_layer_and_stays_sparse(tmp_path, layer):
    """Single-cell tables must not be made dense on the way in."""
    anndata = pytest.importorskip("anndata")
    X = sparse.random(20, 30, 0.1, "csr", random_state=np.random.default_rng(0))
    adata = anndata.AnnData(X, layers={"counts": X * 2})
    adata.write_h5ad(tmp_path / "t.h5ad")
    table = read_table(tmp_path / "t.h5ad", ReadOptions(layer=layer))
    assert sparse.issparse(table.values)
    np.testing.assert_array_equal(table.values.toarray(), (X * (2 if layer else 1)).toarray())
    with pytest.raises(TableError, match="no layer 'absent'; layers: 'counts'"):
        read_table(tmp_path / "t.h5ad", ReadOptions(layer="absent"))


def test_scipys_sparse_npz_stays_sparse(tmp_path):
    """The other common way sparse tables are kept."""
    X = sparse.random(5, 7, 0.3, "csc", random_state=np.random.default_rng(0))
    sparse.save_npz(tmp_path / "t.npz", X)
    table = read_table(tmp_path / "t.npz")
    assert sparse.issparse(table.values)
    np.testing.assert_array_equal(table.values.toarray(), X.toarray())


TEXTS = {
    "corner empty": (",a,b\ns1,1,2\ns2,3,4\n", ("s1", "s2"), ("a", "b")),
    "no corner, as R writes": ("a,b\ns1,1,2\ns2,3,4\n", ("s1", "s2"), ("a", "b")),
    "titled names": ("sample,a,b\ns1,1,2\ns2,3,4\n", ("s1", "s2"), ("a", "b")),
    "numbered samples": ("sample,a,b\n1,1,2\n2,3,4\n", ("1", "2"), ("a", "b")),
    "numbered columns": (",0,1\ns1,1,2\ns2,3,4\n", ("s1", "s2"), ("0", "1")),
    "entrez ids": ("sample,948,949\ns1,1,2\ns2,3,4\n", ("s1", "s2"), ("948", "949")),
    "no names of samples": ("a,b\n1,2\n3,4\n", ("sample0", "sample1"), ("a", "b")),
    "no header": ("s1,1,2\ns2,3,4\n", ("s1", "s2"), ("x0", "x1")),
    "numbers only": ("1,2\n3,4\n", ("sample0", "sample1"), ("x0", "x1")),
    "quotes and commas": ('"","a","b"\n"s1","1","2"\n"s2",3,4\n', ("s1", "s2"), ("a", "b")),
    "comments, blanks": ("# made by\n\n,a,b\ns1,1,2\n\ns2,3,4\n\n", ("s1", "s2"), ("a", "b")),
    "windows line ends": (",a,b\r\ns1,1,2\r\ns2,3,4\r\n", ("s1", "s2"), ("a", "b")),
    "old mac line ends": (",a,b\rs1,1,2\rs2,3,4\r", ("s1", "s2"), ("a", "b")),
    "no last line end": (",a,b\ns1,1,2\ns2,3,4", ("s1", "s2"), ("a", "b")),
    "spaces": ("sample, a , b\ns1, 1, 2\ns2, 3 ,4\n", ("s1", "s2"), ("a", "b")),
    "names with underscores": (",a_1,b_2\n1_0,1,2\n2_0,3,4\n", ("1_0", "2_0"), ("a_1", "b_2")),
}


@pytest.mark.parametrize("case", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_header_and_names_are_found(tmp_path, case, encoding):
    """What people really have on disk; the numbers are always 1, 2, 3, 4."""
    text, samples, variables = TEXTS[case]
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode(encoding))
    table = read_table(path, ReadOptions(transpose=False))
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])
    assert (table.samples, table.variables) == (samples, variables)


MISTAKES = {
    "ragged": (",a,b\ns1,1,2\ns2,3\n", "line 3 has 2 fields where 3 are expected"),
    "text cell": (",a,b\ns1,1,2\ns2,x,4\n", r"line 3, column 2 \('a'\): 'x' is not a number"),
    "after a comment": ("# c\n,a,b\ns1,1,x\n", r"line 3, column 3 \('b'\): 'x' is not a number"),
    "decimal comma": (";a;b\ns1;1,5;2\n", "line 2, column 2 .*decimals with a point"),
    "underscore": (",a,b\ns1,1_0,2\n", r"line 2, column 2 \('a'\): '1_0' is not a number"),
    "bad cell in first column": ("a,b\n1,2\nx,4\n5,6\n", r"line 3, column 1 \('a'\): 'x'"),
    "repeated column": (
        ",a,a\ns1,1,2\n",
        r"column 3 \('a'\): the name 'a' was used before, column 2",
    ),
    "repeated sample": (",a,b\ns1,1,2\ns1,3,4\n", "line 3: the name 's1' was used before, line 2"),
    "empty column": (",a,b\ns1,1,\ns2,3,NA\n", r"column 3 \('b'\): this column is empty"),
    "empty row": (",a,b\ns1,1,2\ns2,,NA\n", r"line 3 \('s2'\): this row is empty"),
    "column without name": (",a,\ns1,1,2\n", "column 3: this column has no name"),
    "infinite": (",a,b\ns1,1,2\ns2,inf,4\n", r"line 3, column 2 \('a'\): the value is infinite"),
    "only a header": (",a,b\n", "no line of numbers"),
    "only names": ("sample\ns1\ns2\n", "no column of numbers"),
    "empty": ("", "empty"),
    "open quote": (',a,b\ns1,"1,2\ns2,3,4\n', "line 3: unexpected end of data"),
    "zero byte": (",a,b\ns1,1\0,2\n", "line 2: a zero byte"),
    "huge field": (",a,b\ns1," + "1" * 200_000 + ",2\n", "line 2: field larger than field limit"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_named_with_their_place(tmp_path, case):
    """The error must send the user to the right cell, and name the file."""
    text, message = MISTAKES[case]
    (tmp_path / "mine.csv").write_text(text)
    with pytest.raises(TableError, match=f"(?s)mine.csv: .*{message}"):
        read_table(tmp_path / "mine.csv")


def test_wrong_encoding_names_line_and_character(tmp_path):
    """latin-1 files are common; the way out works."""
    path = tmp_path / "t.csv"
    path.write_bytes("sample,a,b\ns1,1,2\nsé,3,4\n".encode("latin-1"))
    with pytest.raises(TableError, match="line 3, character 2: byte 0xe9 is not UTF-8"):
        read_table(path)
    assert read_table(path, ReadOptions(encoding="latin-1")).samples == ("s1", "sé")


@pytest.mark.parametrize("said", ["\\t", "tab", "\t"])
def test_a_delimiter_can_be_said_as_a_shell_allows(tmp_path, said):
    """A tab is hard to type; commas inside names must not decide."""
    (tmp_path / "t.txt").write_text("\ta,1,x\tb,2,x\ns,1\t1\t2\n")
    table = read_table(tmp_path / "t.txt", ReadOptions(delimiter=said))
    assert table.variables == ("a,1,x", "b,2,x")
    with pytest.raises(TableError, match="one character, not 'ab'"):
        read_table(tmp_path / "t.txt", ReadOptions(delimiter="ab"))


def test_an_unknown_encoding_is_said(tmp_path):
    """And the usual ones are named."""
    (tmp_path / "t.csv").write_text(",a\ns,1\n")
    with pytest.raises(TableError, match="Unknown encoding 'klingon'; try utf-8 or latin-1"):
        read_table(tmp_path / "t.csv", ReadOptions(encoding="klingon"))


def test_text_columns_can_be_dropped_by_title(tmp_path):
    """A description beside the names is usual; places still refer to the file."""
    path = tmp_path / "t.csv"
    path.write_text("gene,description,s1,s2\nlexA,repressor,1,2\nrecA,helper,3,4\n")
    table = read_table(path, ReadOptions(drop=["description"]))
    assert (table.samples, table.variables) == (("s1", "s2"), ("lexA", "recA"))
    path.write_text("gene,description,s1,s2\nlexA,repressor,1,x\n")
    with pytest.raises(TableError, match=r"line 2, column 4 \('s2'\): 'x'"):
        read_table(path, ReadOptions(drop=["description"]))


@pytest.mark.parametrize(
    ("corner", "rows", "columns", "known", "turned"),
    [
        ("gene", ("p", "q"), ("u", "v"), {}, True),
        ("sample", ("p", "q"), ("u", "v"), {}, False),
        ("", ("b0001", "b0002"), ("u", "v"), {}, True),
        ("", ("p", "q"), ("GSM1", "GSM2"), {}, True),
        ("", ("GSM1", "GSM2"), ("u", "v"), {}, False),
        ("gene", ("p", "q"), ("u", "v"), {"samples": {"q"}}, False),
        ("sample", ("p", "q"), ("u", "v"), {"variables": {"p"}}, True),
        ("", ("p", "q"), ("u", "v"), {}, False),
    ],
)
def test_orientation_follows_the_strongest_hint(tmp_path, corner, rows, columns, known, turned):
    """Known names beat titles, titles beat looks; the reason is told."""
    table = pd.DataFrame([[1, 2], [3, 4]], index=list(rows), columns=list(columns))
    table.to_csv(tmp_path / "t.csv", index_label=corner)
    read = read_table(tmp_path / "t.csv", **known)
    assert read.samples == (columns if turned else rows)
    np.testing.assert_array_equal(read.values, [[1, 3], [2, 4]] if turned else [[1, 2], [3, 4]])
    assert str(read.way).startswith(f"rows are {'variables' if turned else 'samples'}: ")
    assert read.way.sure == bool(corner or known or str(read.way).find("look like") > 0)


TEXT = "gene,product,start,strand,s1,s2,note\n" + "".join(
    f"g{i},protein {i},{100 * i},{'+-'[i % 2]},{i}.5,{i}.25,\n" for i in range(20)
)


def test_columns_of_text_beside_numbers_are_set_aside(tmp_path):
    """Descriptions and strands are no measurements; the numbers are read all the same."""
    (tmp_path / "t.csv").write_text(TEXT.replace(",\n", ",x\n"))
    table = read_table(tmp_path / "t.csv")
    assert table.set_aside == ("product", "strand", "note")
    assert table.samples == ("start", "s1", "s2")
    frame = pd.read_csv(tmp_path / "t.csv")
    frame.to_parquet(tmp_path / "t.parquet")
    again = read_table(tmp_path / "t.parquet")
    assert again.set_aside == table.set_aside
    np.testing.assert_array_equal(again.values, table.values)


def test_a_title_above_the_table_is_left_out(tmp_path):
    """As spreadsheets have them; the check names the line. With a line of numbers below it, or said
    not to be there, nothing is left out."""
    table = "gene,s1,s2\ng1,1,2\ng2,3,4\n"
    (tmp_path / "a.csv").write_text(f"Plate 7,,\n\nlog2 of intensities,,\n{table}")
    (tmp_path / "b.csv").write_text(table)
    titled, plain = read_table(tmp_path / "a.csv"), read_table(tmp_path / "b.csv")
    assert (titled.samples, titled.variables) == (plain.samples, plain.variables)
    assert np.array_equal(titled.values, plain.values)
    assert titled.notes[:2] == (
        "line 1 is a title, left out: 'Plate 7'",
        "line 3 is a title, left out: 'log2 of intensities'",
    )
    (tmp_path / "c.csv").write_text("gene,,\ng1,1,2\ng2,3,4\n")
    with pytest.raises(TableError, match="column 2: this column has no name"):
        read_table(tmp_path / "c.csv")


def test_decimals_with_a_comma_are_not_taken_for_text(tmp_path):
    """A whole table of them would vanish without a word."""
    (tmp_path / "t.csv").write_text("gene;a;b\ng1;1,5;2,5\ng2;1,5;2,5\n")
    with pytest.raises(TableError, match="Write decimals with a point"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("cell", ["1,234.5", "1.234,5", "1.234.567", "1 234", "-1'234.5"])
def test_separators_of_thousands_are_named(tmp_path, cell):
    """In one cell, and in all of a column, which is no column of text then."""
    for column in ([cell, "2", "3"], [cell] * 3):
        lines = [f"s{i}\t{value}\t{i}.5\n" for i, value in enumerate(column)]
        path = tmp_path / "table.tsv"
        path.write_text("sample\tg1\tg2\n" + "".join(lines), encoding="utf-8")
        with pytest.raises(TableError, match=r"'g1'.*without a separator of thousands"):
            read_table(path)


def test_dates_in_a_frame_are_refused(tmp_path):
    """They would be numbers of nanoseconds."""
    days = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=3), "a": [1.0, 2.0, 3.0]})
    days.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(TableError, match=r"column 1 \('day'\): dates"):
        read_table(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", ReadOptions(drop=("day",)))
    assert table.variables == ("a",)


def test_logs_are_taken_when_asked(tmp_path):
    """Of a sparse table too; of a negative value there is none."""
    counts = np.array([[0, 1, 3], [7, 0, 15.0]])
    np.save(tmp_path / "t.npy", counts)
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_matrix(counts))
    logs = ReadOptions(log=True)
    expected = [[0, 1, 2], [3, 0, 4]]
    dense = read_table(tmp_path / "t.npy", logs)
    assert dense.logged
    np.testing.assert_allclose(dense.values, expected)
    np.testing.assert_allclose(read_table(tmp_path / "s.npz", logs).values.toarray(), expected)
    np.save(tmp_path / "t.npy", -counts)
    with pytest.raises(TableError, match="smallest value, -15, has no logarithm"):
        read_table(tmp_path / "t.npy", logs)


def test_excel_dates_are_refused(tmp_path):
    """MARCH1 typed into Excel is a date; a name lost is worse than an error."""
    day = datetime.datetime(2026, 3, 1)
    pd.DataFrame([["gene", "s1"], [day, 1.0]]).to_excel(
        tmp_path / "t.xlsx", header=False, index=False
    )
    with pytest.raises(TableError, match="line 2, column 1: Excel holds the date"):
        read_table(tmp_path / "t.xlsx")


def test_cut_off_archives_are_noticed(tmp_path):
    """Half a download must not look like a small table."""
    zstandard = pytest.importorskip("zstandard")
    text = frame().to_csv().encode() * 50
    for name, packed in (
        ("t.csv.gz", gzip.compress(text)),
        ("t.csv.zst", zstandard.compress(text)),
    ):
        (tmp_path / name).write_bytes(packed[: len(packed) // 2])
        with pytest.raises(TableError, match="truncated"):
            read_table(tmp_path / name)


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_pickles_are_never_loaded(tmp_path, name):
    """An object array could run code."""
    (np.save if name == "t.npy" else np.savez)(
        tmp_path / name, np.array([[{"a": 1}, None]], dtype=object)
    )
    with pytest.raises(TableError, match="only numbers and text"):
        read_table(tmp_path / name)


def test_a_header_cannot_claim_more_than_the_file_holds(tmp_path):
    """A tiny npy that claims a terabyte is refused before memory is asked for."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"12345678"
    (tmp_path / "t.npy").write_bytes(content)
    with pytest.raises(TableError, match=r"claims 8,000,000,000,000 bytes, the file has 8"):
        read_table(tmp_path / "t.npy")


def test_unknown_endings_and_missing_files(tmp_path):
    """The two first mistakes anyone makes."""
    (tmp_path / "t.doc").write_text("x")
    with pytest.raises(TableError, match=r"unknown file type '.doc'; use one of .csv"):
        read_table(tmp_path / "t.doc")
    with pytest.raises(TableError, match="There is no file"):
        read_table(tmp_path / "absent.csv")


@given(hnp.arrays(float, (3, 4), elements=st.floats(allow_nan=False, allow_infinity=False)))
@settings(deadline=None, max_examples=50)
def test_any_numbers_survive_csv_bit_for_bit(tmp_path_factory, values):
    """Reading rounds nothing (pandas' fast parser does)."""
    path = tmp_path_factory.mktemp("bits") / "t.csv"
    pd.DataFrame(values, index=list(SAMPLES), columns=list(VARIABLES)).to_csv(path)
    assert read_table(path).values.tobytes() == values.tobytes()


def test_cells_are_not_read_one_by_one(tmp_path):
    """16 times as many cells, four times as many rows and columns: at most about four times the
    calls (measured: three). One call for each cell would take minutes for 300 x 20,000."""

    def calls(n):
        path, line = tmp_path / f"{n}.csv", ",".join(["0.123456789"] * (500 * n))
        with path.open("w") as file:
            file.write("," + ",".join(f"g{j}" for j in range(500 * n)) + "\n")
            file.writelines(f"s{i},{line}\n" for i in range(20 * n))
        assert read_table(path).shape == (20 * n, 500 * n)
        return count_calls(lambda: read_table(path))

    assert calls(4) < 5 * calls(1)


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("t.xlsx", "openpyxl", "tables"),
        ("t.h5ad", "anndata", "anndata"),
        ("t.tsv.zst", "zstandard", "tables"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, name, module, extra):
    """A format of the table above without its package: the command to install it."""
    WRITERS[name](tmp_path / name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"pip install 'rcweb\[{extra}\]'"):
        read_table(tmp_path / name)


def test_anndata_defines_its_orientation(tmp_path):
    """Rows are observations by definition, whatever the names look like; --transpose overrules."""
    anndata = pytest.importorskip("anndata")
    genes_as_rows = pd.DataFrame(np.eye(3), index=["b0001", "b0002", "b0003"], columns=list("xyz"))
    anndata.AnnData(genes_as_rows).write_h5ad(tmp_path / "t.h5ad")
    table = read_table(tmp_path / "t.h5ad")
    assert table.samples == ("b0001", "b0002", "b0003")
    assert str(table.way) == "rows are samples: the file type defines it"
    assert read_table(tmp_path / "t.h5ad", ReadOptions(transpose=True)).samples == ("x", "y", "z")
