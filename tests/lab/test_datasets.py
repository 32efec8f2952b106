"""Public tables: fetched once, checked always, and no half-written cache whatever goes wrong."""

from __future__ import annotations

import errno
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from rcweb.lab.datasets import DatasetError, cache_folder, files, load_yeast
from rcweb.lab.datasets import ecoli as ecoli_module
from rcweb.lab.datasets.files import checked, data_folder, from_wheel, sha256

TABLES = {"toy/data/a.csv": b"x,y\n1,2\n", "toy/data/b.csv": b"z\n3\n"}
SUMS = {name: sha256(content) for name, content in TABLES.items()}
needs_data = pytest.mark.skipif(
    "RCWEB_DATA" not in os.environ, reason="RCWEB_DATA does not name the folder of real tables"
)


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A package index in a folder, with one small wheel; nothing else is reachable."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "toy-1.0-py3-none-any.whl", "w") as wheel:
        for name, content in TABLES.items():
            wheel.writestr(name, content)
        info = "toy-1.0.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def stored(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*")) if folder.exists() else []


def test_files_are_fetched_once_and_verified(index, tmp_path):
    """The second call works without any index; a damaged file is fetched again."""
    cache = tmp_path / "cache"
    paths = from_wheel("toy==1.0", SUMS, cache)
    assert {name: path.read_bytes() for name, path in paths.items()} == TABLES
    paths["toy/data/a.csv"].write_bytes(b"damaged")
    assert from_wheel("toy==1.0", SUMS, cache)["toy/data/a.csv"].read_bytes() == b"x,y\n1,2\n"
    (index / "toy-1.0-py3-none-any.whl").unlink()
    from_wheel("toy==1.0", SUMS, cache)
    assert stored(cache) == ["a.csv", "b.csv"]


def test_no_network(index, tmp_path):
    """An unreachable package: one clear error, nothing stored."""
    (index / "toy-1.0-py3-none-any.whl").unlink()
    with pytest.raises(DatasetError, match=r"pip could not download toy==1.0.*toy"):
        from_wheel("toy==1.0", SUMS, tmp_path / "cache")
    assert stored(tmp_path / "cache") == []


def test_wrong_checksum(index, tmp_path):
    """Not even the files that were right are stored, and the two sums are named."""
    sums = SUMS | {"toy/data/b.csv": "0" * 64}
    with pytest.raises(DatasetError, match="expected 0000"):
        from_wheel("toy==1.0", sums, tmp_path / "cache")
    assert stored(tmp_path / "cache") == []


def test_missing_member(index, tmp_path):
    """A package that lacks the file says which."""
    with pytest.raises(DatasetError, match=r"lacks a file.*c\.csv"):
        from_wheel("toy==1.0", {"toy/data/c.csv": "0"}, tmp_path / "cache")


def test_full_disk(index, tmp_path, monkeypatch):
    """The disk fills up during the second file: the first is whole, no fragment is left."""
    written = []
    real_fsync = os.fsync

    def fsync(handle):
        written.append(handle)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        real_fsync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(DatasetError, match=r"No space left on device.*RCWEB_CACHE"):
        from_wheel("toy==1.0", SUMS, tmp_path / "cache")
    assert stored(tmp_path / "cache") == ["a.csv"]
    monkeypatch.undo()
    assert sha256((tmp_path / "cache" / "a.csv").read_bytes()) == SUMS["toy/data/a.csv"]


def test_full_temporary_disk(index, tmp_path, monkeypatch):
    """No room for the download itself."""

    def no_room(*args, **kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_pip_download", no_room)
    with pytest.raises(DatasetError, match="No space left"):
        from_wheel("toy==1.0", SUMS, tmp_path / "cache")


def test_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    """RCWEB_CACHE first, then the convention of the system."""
    monkeypatch.setenv("RCWEB_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("RCWEB_CACHE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_folder() == tmp_path / "x" / "rcweb"
    monkeypatch.setattr("sys.platform", "darwin")
    assert cache_folder() == Path("~/Library/Caches/rcweb").expanduser()
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "w"))
    assert cache_folder() == tmp_path / "w" / "rcweb"


def test_yeast_says_how_to_get_it(monkeypatch, tmp_path):
    """Without the folder, with a wrong one, with an empty one, with a wrong file."""
    monkeypatch.delenv("RCWEB_DATA", raising=False)
    assert data_folder() is None
    with pytest.raises(DatasetError, match="name it in RCWEB_DATA"):
        load_yeast()
    monkeypatch.setenv("RCWEB_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DatasetError, match="not a folder"):
        load_yeast()
    monkeypatch.setenv("RCWEB_DATA", str(tmp_path))
    with pytest.raises(DatasetError, match=r"has no yeast_m3d_s98/expression\.parquet"):
        load_yeast()
    (tmp_path / "f").write_bytes(b"other")
    with pytest.raises(DatasetError, match="is not the published file"):
        checked(tmp_path / "f", "0" * 64)
    with pytest.raises(DatasetError, match="cannot read"):
        checked(tmp_path / "g", "0" * 64)


def test_ecoli_is_read_as_published(monkeypatch, tmp_path):
    """From toy files of the package's form: orientation, signs, thresholds, categories."""
    toy = {
        "X.csv": ",s1,s2\nb1,1.0,2.0\nb2,3.0,4.0\n",
        "M.csv": ",Fur,ArcA\nb1,0.5,-0.1\nb2,-0.9,0.01\n",
        "imodulon_table.csv": "name,regulator,threshold\nFur,fur,0.6\nArcA,arcA,0.05\n",
        "trn.csv": "regulator,gene_id,effect\nfur,b2,-\nfur,b1,+\narcA,b1,\n",
        "gene_table.csv": ",gene_name,COG\nb2,ompF,Transport\nb1,thrA,No COG Annotation\n",
        "sample_table.csv": "Sample ID,project\ns2,iron\ns1,control\n",
    }
    toy["genome.gff3"] = (
        "##gff-version 3\nchr\tx\tgene\t1\t9\t.\t+\t.\tID=1;gene=fur\n"
        "chr\tx\tCDS\t1\t9\t.\t+\t0\tID=2;gene=fur;product=iron%2C regulator\n"
    )
    for name, text in toy.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(
        ecoli_module,
        "from_wheel",
        lambda _, members, __: {m: tmp_path / Path(m).name for m in members},
    )
    data = ecoli_module.load_ecoli()
    assert data.expression.to_numpy().tolist() == [[1, 3], [2, 4]]
    assert data.genes["symbol"].tolist() == ["thrA", "ompF"]
    assert data.samples["group"].tolist() == ["control", "iron"]
    assert data.known.names == ("arcA", "fur")
    assert data.known.descriptions == ("", "iron, regulator")
    assert data.known.weights == ((0.0,), (-1.0, 1.0))
    assert data.terms.names == ("Transport",)
    assert data.published is not None
    assert data.published.loc["Fur"].tolist() == [0, -0.9]
    assert data.published.loc["ArcA"].tolist() == [-0.1, 0]


@pytest.mark.data
@needs_data
def test_yeast_tables():
    """The real files: sizes as documented, names joined."""
    data = load_yeast()
    assert data.expression.shape == (247, 4683)
    assert np.isfinite(data.expression.to_numpy()).all()
    assert len(data.known) == 116
    assert data.known.descriptions[data.known.names.index("GCN4")].startswith("bZIP")
    assert len(data.known.within(data.expression.columns, 5)) == 88
    assert data.genes["symbol"].notna().all()
