"""Files from strangers: nothing runs, nothing outside is touched, nothing fills the memory.

One hostile input for each way in; every one must end in an error of one clear sentence.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import pickle
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb
from rcweb.estimator import load_model, save_model
from rcweb.knowledge.genesets import read_sets
from rcweb.lab.simulate import simulate
from rcweb.report import report_data
from rcweb.report.page import render_report
from rcweb.storage.errors import ModelError
from rcweb.tables import TableError, read_table

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`${alert(1)}"
SMALL = 100 << 20  # bytes that a refusal may take at most


class Bomb:
    """Whoever unpickles this leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


@pytest.fixture
def small_memory(monkeypatch):
    """As if only 100 MB were free, so that a bomb for the test is small enough to be made."""
    monkeypatch.setattr("rcweb.storage.limits.available_memory", lambda: 100 << 20)


def refused(path: Path, match: str) -> None:
    """Without much memory."""
    tracemalloc.start()
    try:
        with pytest.raises(TableError, match=match) as caught:
            read_table(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < SMALL
    assert len(str(caught.value)) < 400


# Pickles: the one way that data runs code.


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_pickled_arrays_do_not_run(tmp_path, ending):
    """NumPy would unpickle objects if told to."""
    array = np.array([[Bomb(tmp_path / "ran")]], dtype=object)
    path = tmp_path / f"t{ending}"
    if ending == ".npy":
        np.save(path, array, allow_pickle=True)
    else:
        np.savez(path, X=array)
    refused(path, "only numbers and text")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("ending", [".csv", ".npz", ".npy", ".parquet", ".h5ad", ".xlsx", ".tsv"])
def test_a_pickle_under_another_name_does_not_run(tmp_path, ending):
    """Some readers look at the content and not at the name."""
    path = tmp_path / f"t{ending}"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(TableError):
        read_table(path)
    assert not (tmp_path / "ran").exists()


def test_a_pickled_model_does_not_run(tmp_path):
    """As models of other packages are."""
    path = tmp_path / "model.rcweb"
    path.write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(ModelError):
        load_model(path)
    assert not (tmp_path / "ran").exists()


def test_h5ad_objects_do_not_run(tmp_path):
    """Pickled bytes in an attribute and a dataset of an AnnData file stay bytes."""
    import anndata
    import h5py

    path = tmp_path / "t.h5ad"
    anndata.AnnData(pd.DataFrame(np.eye(3), index=list("abc"), columns=list("xyz"))).write_h5ad(
        path
    )
    bomb = np.void(pickle.dumps(Bomb(tmp_path / "ran")))
    with h5py.File(path, "r+") as file:
        file["uns"].create_dataset("evil", data=bomb)
        file["uns"].attrs["evil"] = bomb
    with contextlib.suppress(TableError):
        assert read_table(path).shape == (3, 3)
    assert not (tmp_path / "ran").exists()


PICKLE = {"id": "pickle", "protocol": 4}


@pytest.mark.parametrize(
    "packing",
    [
        {"filters": [PICKLE]},
        {"compressor": PICKLE},
        {"filters": [{"id": "shuffle", "elementsize": 8}, PICKLE]},
        {"filters": "pickle"},
    ],
)
def test_zarr_chunks_are_not_unpickled(tmp_path, packing):
    """A codec that every version knows; the chunk would run when it is read."""
    path = tmp_path / "t.zarr"
    path.mkdir()
    usual = {"zarr_format": 2, "shape": [6, 4], "chunks": [6, 4], "dtype": "<f8", "order": "C"}
    usual |= {"compressor": None, "filters": None, "fill_value": 0.0}
    (path / ".zarray").write_text(json.dumps({**usual, **packing}))
    (path / "0.0").write_bytes(pickle.dumps(Bomb(tmp_path / "ran")))
    with pytest.raises(TableError, match="packed by 'pickle' are not read"):
        RCweb(2).fit(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("shards", [None, (30, 20)])
def test_zarr_as_it_is_usually_packed_is_read(tmp_path, version, shards):
    """The list of codecs must hold what zarr itself writes."""
    zarr = pytest.importorskip("zarr")
    if shards and version == 2:
        pytest.skip("shards came with version 3")
    data = simulate(60, 20, 2, noise=0.05, random_state=0).data
    array = zarr.create_array(
        str(tmp_path / "t.zarr"), shape=data.shape, chunks=(10, 20), shards=shards, dtype="f8",
        zarr_format=version,
    )  # fmt: skip
    array[:] = data
    assert RCweb(2).fit(tmp_path / "t.zarr").components_.shape == (2, 20)


# Sizes that are claimed, and bombs.


def npy_header(shape: str) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    text = text.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize("shape", ["(1000000000, 1000000)", "(10, -1)", "(1, 10**18)", "(9,)*99"])
def test_an_npy_that_claims_the_moon(tmp_path, shape):
    """A hundred bytes that declare 10^15 entries are refused before any allocation."""
    path = tmp_path / "t.npy"
    path.write_bytes(npy_header(shape))
    refused(path, "header claims|negative|not an npy")
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("X.npy", npy_header(shape))
    refused(tmp_path / "t.npz", "header claims|negative|not an npy")


def test_an_npz_that_unpacks_to_more_than_memory(tmp_path, small_memory):
    """300 MB of zeros in 300 kB."""
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy_header("(37500, 1000)") + bytes(300_000_000))
    refused(tmp_path / "t.npz", "would unpack to 300,000,1")


def test_a_zip_that_lies_about_its_sizes(tmp_path):
    """300 MB behind a directory that says 1,000 bytes: never unpacked, not even for a moment."""
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", bytes(300_000_000))
    content = path.read_bytes()
    lie = content.replace((300_000_000).to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    assert lie != content
    path.write_bytes(lie)
    refused(path, "damaged zip file|not an npy")


@pytest.mark.parametrize("ending", [".gz", ".zst"])
@pytest.mark.parametrize(
    ("line", "match"),
    [
        (b"0\t0\t0\n", "as far as it was read"),
        (b"#" * 999 + b"\n", "unpacks to more than 21"),
        (b'"\t' * 500, "unpacks to more than 21|larger than"),
    ],
    ids=["rows", "comments", "one row"],
)
def test_packed_text_without_end(tmp_path, monkeypatch, ending, line, match):
    """30 MB packed to a few kB, as if 5 MB of memory were free."""
    monkeypatch.setattr("rcweb.storage.limits.available_memory", lambda: 5 << 20)
    monkeypatch.setattr("rcweb.tables.grid._ASK_EVERY", 1 << 20)
    text = line * (30_000_000 // len(line))
    path = tmp_path / f"t.tsv{ending}"
    if ending == ".gz":
        path.write_bytes(gzip.compress(text, 1))
    else:
        path.write_bytes(pytest.importorskip("zstandard").compress(text))
    assert path.stat().st_size < 1_000_000
    refused(path, match)


def test_a_quote_that_never_closes_is_no_row_of_everything(tmp_path, monkeypatch):
    """Every line ends inside quotes, so that the parser would gather fields without end."""
    monkeypatch.setattr("rcweb.tables.text.MAX_FIELDS", 1000)
    (tmp_path / "t.csv").write_text("a,b\n" + '1,"x\n",' * 5000)
    refused(tmp_path / "t.csv", "more than 1,000 fields; is a quote left open")


def test_a_line_without_end(tmp_path, monkeypatch):
    """A file without line ends is refused at a limit."""
    monkeypatch.setattr("rcweb.tables.streams.MAX_LINE", 10_000)
    (tmp_path / "t.csv").write_bytes(b"1," * 100_000)
    refused(tmp_path / "t.csv", "longer than 10,000 characters")


def test_gene_sets_have_the_same_limits(tmp_path, small_memory):
    """A .gmt.gz of 500 MB in half a megabyte, in long lines."""
    path = tmp_path / "s.gmt.gz"
    path.write_bytes(gzip.compress((b" " * ((1 << 20) - 1) + b"\n") * 500, 1))
    with pytest.raises(ValueError, match=r"s\.gmt\.gz is not a text file.*unpacks to more"):
        read_sets(path)


def test_a_parquet_of_runs(tmp_path, small_memory):
    """50 million equal rows take a few kB in the file and 800 MB in memory."""
    import pyarrow as pa
    from pyarrow import parquet

    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(50_000_000, np.int8)), [1.0])
    parquet.write_table(pa.table({"a": column, "b": column}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 1_000_000
    refused(tmp_path / "t.parquet", "would take 800 MB of memory")


def test_an_h5ad_of_fill_values(tmp_path):
    """An empty dataset of any shape reads as zeros."""
    import h5py

    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        file.create_dataset("X", shape=(10**7, 10**7), dtype="f8", chunks=(1000, 1000))
    refused(tmp_path / "t.h5ad", "would take 800 TB of memory")


@pytest.mark.parametrize("way", ["link", "external", "virtual"])
def test_an_h5ad_that_reads_other_files(tmp_path, way):
    """Links, external storage and virtual datasets name files of whoever opens them."""
    import h5py

    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["X"] = np.eye(3)
    with h5py.File(tmp_path / "t.h5ad", "w") as file:
        if way == "link":
            file["X"] = h5py.ExternalLink(str(secret), "/X")
        elif way == "external":
            file.create_dataset("X", (3, 3), "f8", external=[(str(secret), 0, 72)])
        else:
            layout = h5py.VirtualLayout((3, 3), "f8")
            layout[:] = h5py.VirtualSource(str(secret), "X", shape=(3, 3))
            file.create_virtual_dataset("X", layout)
    refused(tmp_path / "t.h5ad", "another file")


# Excel: a zip of XML.


def xlsx(path: Path, sheet: str, **others: str) -> Path:
    """A smallest workbook with this XML as its only sheet."""
    frame = pd.DataFrame([[1.0]])
    stream = io.BytesIO()
    frame.to_excel(stream, header=False, index=False)
    with (
        zipfile.ZipFile(stream) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        for name in source.namelist():
            content = others.get(Path(name).stem, source.read(name).decode())
            archive.writestr(name, sheet if name.endswith("sheet1.xml") else content)
    return path


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def test_two_cells_in_opposite_corners(tmp_path, small_memory):
    """The rectangle around them has 17 billion cells; neither its rows nor its width is filled."""
    width = "".join(f'<c r="{c}"><v>1</v></c>' for c in ("A1", "XFD1"))
    rows = "".join(f'<row r="{r}"><c r="A{r}"><v>1</v></c></row>' for r in range(2, 3000))
    cells = f'<row r="1">{width}</row>{rows}'
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    with pytest.raises(TableError, match="the sheet would take 786 MB of memory"):
        read_table(xlsx(tmp_path / "t.xlsx", sheet))


def test_a_sheet_that_claims_a_large_size_is_read_by_its_cells(tmp_path):
    """The declared dimension is no reason to allocate."""
    cells = "".join(
        f'<row r="{r}"><c r="A{r}"><v>{r}</v></c><c r="B{r}"><v>{r * r}</v></c></row>'
        for r in (1, 2, 3)
    )
    sheet = (
        f'<worksheet xmlns="{MAIN}"><dimension ref="A1:XFD1048576"/>'
        f"<sheetData>{cells}</sheetData></worksheet>"
    )
    table = read_table(xlsx(tmp_path / "t.xlsx", sheet))
    np.testing.assert_array_equal(table.values, [[1, 1], [2, 4], [3, 9]])


def test_an_xlsx_that_unpacks_to_more_than_memory(tmp_path, small_memory):
    """50 MB of spaces in 50 kB; as Python objects it would be several times that."""
    refused(xlsx(tmp_path / "t.xlsx", " " * 50_000_000), "the sheets, unpacked, would take 400 MB")


def test_xml_entities_are_not_expanded(tmp_path):
    """A billion laughs: nine levels of ten, three gigabytes of text from one kilobyte."""
    entities = '<!ENTITY a0 "ha">' + "".join(
        f'<!ENTITY a{k} "{f"&a{k - 1};" * 10}">' for k in range(1, 10)
    )
    sheet = (
        f'<?xml version="1.0"?><!DOCTYPE x [{entities}]><worksheet xmlns="{MAIN}"><sheetData>'
        '<row r="1"><c r="A1" t="str"><v>&a9;</v></c></row></sheetData></worksheet>'
    )
    refused(xlsx(tmp_path / "t.xlsx", sheet), "cannot be read as Excel")


def test_xml_does_not_read_other_files(tmp_path):
    """External entities name files of whoever opens the sheet."""
    (tmp_path / "secret.txt").write_text("4711")
    sheet = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY s SYSTEM "file://{tmp_path}/secret.txt">]>'
        f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1" t="str"><v>&s;</v></c>'
        '<c r="B1"><v>1</v></c></row></sheetData></worksheet>'
    )
    with contextlib.suppress(TableError):
        assert 4711 not in read_table(xlsx(tmp_path / "t.xlsx", sheet)).values


# Models, folders and pages.


@pytest.fixture(scope="module")
def fitted() -> RCweb:
    data = simulate(40, 30, 3, noise=0.05, random_state=0).data
    names = [f"{EVIL}{j}" for j in range(30)]
    return RCweb(3, method="paper").fit(pd.DataFrame(data, columns=names))


def test_a_model_cannot_name_paths_of_this_machine(fitted, tmp_path):
    """A checkpoint named by a stranger would be a place where a later fit writes."""
    save_model(fitted, tmp_path / "m.rcweb")
    with zipfile.ZipFile(tmp_path / "m.rcweb") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(members["model.json"])
    assert "checkpoint" not in document["parameters"]
    document["parameters"]["checkpoint"] = str(tmp_path / "elsewhere")
    members["model.json"] = json.dumps(document).encode()
    with zipfile.ZipFile(tmp_path / "evil.rcweb", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ModelError, match="'checkpoint' is no part of a model"):
        load_model(tmp_path / "evil.rcweb")


def scripts(page: str) -> list[str]:
    """What a browser would run or show as an element, by Python's own parser of html."""
    from html.parser import HTMLParser

    found: list[str] = []

    class Elements(HTMLParser):
        def handle_starttag(self, tag, attrs):
            handlers = [k for k, _ in attrs if k.startswith("on")]
            if tag in ("script", "img", "iframe") or handlers:
                found.append(tag)

    Elements().feed(page)
    return found


def test_names_cannot_put_scripts_on_a_page(fitted):
    """Genes, samples, groups, titles, warnings: in the report and in a notebook."""
    data = np.ones((40, 30))
    model = pickle.loads(pickle.dumps(fitted))
    model.warnings_, model.reason_ = (EVIL,), EVIL
    harmless = RCweb(3, method="paper").fit(simulate(40, 30, 3, noise=0.05, random_state=0).data)

    def page(model, text):
        frame = pd.DataFrame(data, columns=getattr(model, "feature_names_in_", None))
        shown = report_data(
            model,
            frame,
            sample_names=[f"{text}{i}" for i in range(40)],
            sample_groups=[text] * 40,
            title=text,
            provenance={text: text},
        )
        return render_report(shown)

    assert scripts(page(model, EVIL)) == scripts(page(harmless, "plain"))
    assert "<img src=x" not in page(model, EVIL)
    assert "<img src=x" not in model._repr_html_()
    assert "<script>alert" not in model._repr_html_()


def test_parameters_of_a_model_cannot_put_scripts_in_a_notebook(fitted):
    """scikit-learn's diagram shows them; a stranger's file may hold any text there."""
    model = pickle.loads(pickle.dumps(fitted)).set_params(random_state=EVIL, center=EVIL)
    assert "<img src=x" not in model._repr_html_()


def test_names_cannot_break_out_of_graphml_or_json(fitted):
    """Both must still parse, and hold the names as text."""
    tree = ElementTree.fromstring(fitted.network_.to_graphml())
    texts = {element.text for element in tree.iter() if element.tag.endswith("data")}
    assert f"{EVIL}0" in texts or any(EVIL in (text or "") for text in texts)
    json.loads(fitted.network_.to_cytoscape())


@pytest.mark.parametrize("record", ["[]", '{"inputs": []}', '{"inputs": {"a": 1}}', "nul", "{}{"])
def test_a_result_folder_with_a_strange_record(fitted, tmp_path, record):
    """A folder from elsewhere is refused in one sentence."""
    pytest.importorskip("click")
    from rcweb.cli.results import read_result

    save_model(fitted, tmp_path / "model.rcweb")
    (tmp_path / "provenance.json").write_text(record)
    (tmp_path / "activities.tsv").write_text("sample\trcweb0\ns1\t1\ns2\t2\n")
    with pytest.raises(TableError, match="is incomplete"):
        read_result(tmp_path)


def test_a_device_is_no_file():
    """/dev/zero never ends."""
    with pytest.raises(TableError, match="no file"):
        read_table("/dev/zero")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits memory as Linux does")
def test_refusals_need_little_memory(tmp_path):
    """The whole of a refusal in a process that may take 200 MB more than it has."""
    path = tmp_path / "t.npy"
    path.write_bytes(npy_header("(1000000000, 1000000)"))
    script = (
        "import resource, sys; from rcweb.tables import read_table, TableError\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (200 << 20),) * 2)\n"
        "try: read_table(sys.argv[1])\n"
        "except TableError as error: print(error)"
    )
    command = [sys.executable, "-c", script, str(path)]
    assert "header claims" in subprocess.check_output(command, text=True)
