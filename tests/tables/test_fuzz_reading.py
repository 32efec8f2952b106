"""Reading survives anything: a clear error or a right table, never another exception or a hang."""

from __future__ import annotations

import gzip
import io
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rcweb.tables import ReadOptions, TableError, read_table
from rcweb.tables.sheets import read_sheet

Rng = np.random.Generator

# Inputs of the full run per kind of file; text is where users' files differ most.
FULL = {
    ".csv": 4000,
    ".tsv": 2500,
    ".txt": 1000,
    ".csv.gz": 1000,
    ".tsv.zst": 500,
    ".npy": 800,
    ".npz": 800,
    ".parquet": 400,
    ".xlsx": 150,
    ".h5ad": 150,
}
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "cp037")
CELLS = (
    *(
        "1",
        "-2.5",
        "1e300",
        "1e999",
        "-inf",
        "nan",
        "NA",
        "",
        " ",
        "0x10",
        "1_0",
        "1,5",
        "+.5",
        "٣",
    ),
    *(
        "lexA",
        "µ",
        "a b",
        '"',
        '""',
        '"a',
        "\\",
        "'",
        "=1+1",
        "#",
        "\0",
        "\ufeff",
        "\u2028",
        "\x1a",
    ),
    *("\ud7ff", "𝔘", "-" * 300, "9" * 400, "x" * 140_000),
)


def valid_bytes(ending: str, rng: Rng) -> bytes:
    """A small right file of the kind, to be damaged."""
    shape = tuple(rng.integers(1, 7, 2))
    frame = pd.DataFrame(
        rng.standard_normal(shape),
        index=[f"s{i}" for i in range(shape[0])],
        columns=[f"g{j}" for j in range(shape[1])],
    )
    stream = io.BytesIO()
    if ending == ".npy":
        np.save(stream, frame.to_numpy())
    elif ending == ".npz":
        np.savez(stream, X=frame.to_numpy(), samples=frame.index.to_numpy(dtype=str))
    elif ending == ".parquet":
        frame.to_parquet(stream)
    elif ending == ".xlsx":
        frame.to_excel(stream)
    elif ending == ".h5ad":
        return h5ad_bytes(frame)
    else:
        text = frame.to_csv(sep="," if ".csv" in ending else "\t").encode()
        return packed(text, ending)
    return stream.getvalue()


def h5ad_bytes(frame: pd.DataFrame) -> bytes:
    import tempfile

    import anndata

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.AnnData(frame).write_h5ad(Path(folder) / "t.h5ad")
        return (Path(folder) / "t.h5ad").read_bytes()


def packed(content: bytes, ending: str) -> bytes:
    if ending.endswith(".gz"):
        return gzip.compress(content, 1)
    if ending.endswith(".zst"):
        import zstandard

        return zstandard.compress(content)
    return content


def random_bytes(ending: str, rng: Rng) -> bytes:
    return rng.bytes(int(rng.integers(0, 400)))


def random_cells(ending: str, rng: Rng) -> bytes:
    """Lines of odd cells, more or less rectangular, in an odd encoding."""
    width = int(rng.integers(1, 6))
    delimiter = str(rng.choice([",", "\t", ";", "|", " "]))
    end = str(rng.choice(["\n", "\r\n", "\r", "\n\n"]))
    usual = rng.random() < 0.7
    pool = CELLS[:14] if usual else CELLS
    lines = []
    for _ in range(int(rng.integers(0, 7))):
        n = width if rng.random() < 0.9 else int(rng.integers(0, 8))
        lines.append(delimiter.join(str(pool[rng.integers(len(pool))]) for _ in range(n)))
    text = end.join(lines)
    encoding = str(rng.choice(ENCODINGS))
    return packed(text.encode(encoding, errors="replace"), ending)


def damaged(ending: str, rng: Rng) -> bytes:
    """A right file with bytes changed, cut off, repeated or put in."""
    content = bytearray(valid_bytes(ending, rng))
    for _ in range(int(rng.integers(1, 4))):
        place = int(rng.integers(0, len(content) + 1)) if content else 0
        action = rng.integers(5)
        if action == 0:
            content = content[:place]
        elif action == 1 and content:
            content[min(place, len(content) - 1)] ^= 1 << int(rng.integers(8))
        elif action == 2:
            content[place:place] = rng.bytes(int(rng.integers(1, 20)))
        elif action == 3:
            content[place:place] = content[: int(rng.integers(0, 60))]
        else:
            del content[place : place + int(rng.integers(1, 30))]
    return bytes(content)


MAKERS: tuple[Callable[[str, Rng], bytes], ...] = (random_bytes, random_cells, damaged, damaged)


def one_input(ending: str, rng: Rng) -> bytes:
    binary = ending in (".npy", ".npz", ".parquet", ".xlsx", ".h5ad")
    make = MAKERS[int(rng.integers(4))]
    return damaged(ending, rng) if binary and make is random_cells else make(ending, rng)


def check(path: Path, rng: Rng) -> bool:
    """Read it; True if a table came out, which then has to be a right one."""
    options = ReadOptions(
        transpose=[None, True, False][rng.integers(3)],
        header=[None, None, True, False][rng.integers(4)],
        index=[None, None, True, False][rng.integers(4)],
    )
    try:
        table = read_table(path, options)
    except TableError as error:
        table, message = None, str(error)
    if table is None:
        assert 10 < len(message) < 800, "an error must say something, and not everything"
        return False
    values = np.asarray(table.frame())
    assert values.shape == (len(table.samples), len(table.variables))
    assert min(values.shape) > 0
    assert not np.isinf(values).any()
    assert len(set(table.samples)) == len(table.samples)
    assert len(set(table.variables)) == len(table.variables)
    _check_written_again(path, table)
    return True


def _check_written_again(path: Path, table) -> None:
    """What was understood, written plainly, is understood in the same way."""
    again = path.with_name("again.csv")
    table.frame().to_csv(again, lineterminator="\n")
    plain = read_table(again, ReadOptions(transpose=False, header=True, index=True))
    np.testing.assert_array_equal(plain.values, np.asarray(table.frame()))


def fuzz(tmp_path: Path, ending: str, n: int) -> tuple[int, int]:
    rng = np.random.default_rng([int(os.environ.get("RCWEB_SEED", 0)), len(ending), n])
    path = tmp_path / f"fuzz{ending}"
    n_tables = 0
    for k in range(n):
        content = one_input(ending, rng)
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                if ending in (".xlsx", ".h5ad", ".parquet"):  # other people's readers may warn
                    warnings.simplefilter("ignore")
                n_tables += check(path, rng)
        except Exception as error:
            raise AssertionError(f"input {k} of {ending}: {content[:300]!r}") from error
    return n_tables, n


@pytest.mark.parametrize("ending", FULL)
def test_fuzz_a_few(tmp_path, ending):
    """One in twenty of the full run, every time; some inputs must be tables, some not."""
    n_tables, n = fuzz(tmp_path, ending, max(20, FULL[ending] // 20))
    assert n_tables < n


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz"])
def test_fuzz_sheets(tmp_path, ending):
    """Sample sheets go through the same reader and keep the same promise."""
    rng = np.random.default_rng([1, int(os.environ.get("RCWEB_SEED", 0))])
    path = tmp_path / f"sheet{ending}"
    n_sheets = 0
    for _ in range(200):
        path.write_bytes(one_input(ending, rng))
        try:
            sheet = read_sheet(path)
        except TableError:
            continue
        n_sheets += 1
        assert sheet.index.is_unique
        assert len(sheet) > 0
    assert 0 < n_sheets < 200


@pytest.mark.slow
@pytest.mark.parametrize("ending", FULL)
def test_fuzz_in_full(tmp_path, ending):
    """Over 10,000 inputs together; both outcomes must occur or the fuzzer has gone blind."""
    assert sum(FULL.values()) > 10_000
    n_tables, n = fuzz(tmp_path, ending, FULL[ending])
    assert 0 < n_tables < n
