"""Checkpoints: the same bits after any interruption, and no foreign or damaged one is ever used."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rcweb.engine.checkpoint import staged
from rcweb.storage.checkpoint import (
    Checkpoint,
    CheckpointError,
    fingerprint,
    identity,
    pack,
    remove_checkpoint,
    unpack,
)
from rcweb.storage.record import Record, RecordError, read_record, write_record


@dataclass(frozen=True)
class Inner:
    w: np.ndarray
    level: float


@dataclass(frozen=True)
class Outer:
    x: np.ndarray
    inner: Inner
    n: int
    name: str
    flag: bool


def an_outer(rng: np.random.Generator) -> Outer:
    turned = rng.standard_normal((4, 3)).T
    inner = Inner(rng.standard_normal((3, 5))[:, ::2], float("nan"))
    return Outer(turned, inner, 7, "mu \u00b5", True)


@pytest.fixture
def who() -> dict:
    return identity(fingerprint(np.arange(6.0)), {"n_components": 3, "fdr": 0.05})


def test_dataclasses_come_back_with_all_bits_and_their_order():
    """Nested fields, NaN, text, and the order in memory, on which last bits of products depend."""
    value = an_outer(np.random.default_rng(0))
    again = unpack(pack(value), Outer)
    assert again.x.tobytes() == value.x.tobytes()
    assert again.inner.w.tobytes() == value.inner.w.tobytes()
    assert again.inner.w.flags.c_contiguous  # as it will be when read from a file
    assert np.isnan(again.inner.level)
    assert (again.n, again.name, again.flag) == (7, "mu \u00b5", True)


@settings(max_examples=60, deadline=None)
@given(
    array=hnp.arrays(
        dtype=st.sampled_from(["<f8", "<f4", "<i8", "<u2", "|b1", "<U3"]),
        shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    ),
    fortran=st.booleans(),
)
def test_any_array_survives_a_file(array, fortran, tmp_path_factory):
    """Bits, type, shape and order, also of empty arrays and ones without dimension."""
    array = np.array(array, order="F" if fortran else "C")
    path = tmp_path_factory.mktemp("record") / "a.stage"
    write_record(path, Record({"a": array}, {"k": [1, "x"]}))
    record = read_record(path)
    again = record.arrays["a"]
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert again.tobytes() == array.tobytes()
    assert again.flags.c_contiguous == array.flags.c_contiguous
    assert record.document == {"k": [1, "x"]}


def test_any_change_of_a_record_is_noticed(tmp_path):
    """Each byte flipped, each length cut: refused every time, and never with another exception."""
    path = tmp_path / "a.stage"
    write_record(path, Record({"a": np.arange(6.0), "b": np.eye(2)}, {"k": 1}))
    whole = path.read_bytes()
    for place in range(len(whole)):
        for content in (
            whole[:place],
            whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :],
        ):
            path.write_bytes(content)
            with pytest.raises(RecordError):
                read_record(path)
    path.write_bytes(whole + b"x")
    with pytest.raises(RecordError, match="should hold"):
        read_record(path)


def test_a_record_that_claims_the_moon_is_refused_before_allocation(tmp_path):
    """10^15 numbers in a hundred bytes; the digest is right, so only the size can tell."""
    head = b'rcweb-record 1\n{"document": {}, "arrays": [["a", "<f8", [1000000000000000], "C"]]}\n'
    (tmp_path / "a.stage").write_bytes(head + hashlib.sha256(head).digest())
    with pytest.raises(RecordError, match="should hold 8,000,000,000,000,000 bytes"):
        read_record(tmp_path / "a.stage")


def test_objects_are_neither_written_nor_read(tmp_path):
    """Objects are pickles, and a pickle runs code."""
    with pytest.raises(TypeError, match="numbers and text"):
        write_record(tmp_path / "a.stage", Record({"a": np.array([{}], dtype=object)}))
    assert not list(tmp_path.iterdir())
    head = b'rcweb-record 1\n{"document": {}, "arrays": [["a", "|O", [1], "C"]]}\n' + bytes(8)
    (tmp_path / "a.stage").write_bytes(head + hashlib.sha256(head).digest())
    with pytest.raises(RecordError, match="no array of numbers"):
        read_record(tmp_path / "a.stage")


def test_a_stage_is_computed_once_and_leaves_the_generator_alike(tmp_path, who):
    """The second run computes nothing and draws the same numbers afterwards."""
    results = []
    calls = []
    for _ in range(2):
        rng = np.random.default_rng(3)
        checkpoint = Checkpoint(tmp_path / "c", who)

        def compute(rng=rng):
            calls.append(1)
            return an_outer(rng)

        value = staged(checkpoint, "search", compute, Outer, rng)
        results.append((value.x.tobytes(), value.x.flags.f_contiguous, rng.random()))
    assert results[0] == results[1]
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (identity(fingerprint(np.ones(6)), {"n_components": 3, "fdr": 0.05}), "the data differ"),
        (
            identity(fingerprint(np.arange(6.0)), {"n_components": 3, "fdr": 0.1}),
            r"fdr was 0\.05 and is 0\.1",
        ),
    ],
)
def test_a_foreign_checkpoint_is_refused_and_untouched(tmp_path, who, other, message):
    """Other data or parameters: an error that says which, before any work."""
    Checkpoint(tmp_path, who).write("table", Record({"a": np.arange(3)}))
    before = (tmp_path / "table.stage").read_bytes()
    with pytest.raises(CheckpointError, match=message):
        Checkpoint(tmp_path, other)
    assert (tmp_path / "table.stage").read_bytes() == before


def test_another_version_is_refused(tmp_path, who):
    """A newer release may compute differently; mixing both is no result of either."""
    older = {**who, "versions": {**who["versions"], "rcweb": "0.0.9"}}
    Checkpoint(tmp_path, older).write("table", Record())
    with pytest.raises(CheckpointError, match=r"version of rcweb was '0\.0\.9'"):
        Checkpoint(tmp_path, who)


def test_a_damaged_checkpoint_is_refused_and_untouched(tmp_path, who):
    """Cut off or overwritten; the message names the file and the way out."""
    Checkpoint(tmp_path, who).write("table", Record({"a": np.arange(3)}))
    path = tmp_path / "table.stage"
    whole = path.read_bytes()
    for content in (b"", whole[:20], whole[:-5]):
        path.write_bytes(content)
        with pytest.raises(CheckpointError, match=r"table\.stage is damaged.*remove this file"):
            Checkpoint(tmp_path, who).read("table")
        assert path.read_bytes() == content


def test_removal_takes_its_own_files_only(tmp_path, who):
    """What else lies in the folder is not ours."""
    checkpoint = Checkpoint(tmp_path / "c", who)
    checkpoint.write("table", Record())
    (tmp_path / "c" / "notes.txt").write_text("mine")
    remove_checkpoint(tmp_path / "c")
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["notes.txt"]
    (tmp_path / "c" / "notes.txt").unlink()
    remove_checkpoint(tmp_path / "c")
    assert not (tmp_path / "c").exists()
    with pytest.raises(CheckpointError, match="is a file"):
        Checkpoint(Path(__file__), who)


def test_fingerprints_tell_values_types_and_shapes_apart():
    """And not the layout in memory, which the fit does not see either."""
    x = np.arange(6.0).reshape(2, 3)
    assert fingerprint(x) == fingerprint(np.asfortranarray(x))
    others = [x.T, x.astype(np.float32), x + 1e-15, x.ravel()]
    assert len({fingerprint(other) for other in [x, *others]}) == 5


STAGED = """
import sys, time
import numpy as np
from dataclasses import dataclass
from pathlib import Path
from rcweb.engine.checkpoint import staged
from rcweb.storage.checkpoint import Checkpoint, identity
from rcweb.storage.record import Record

@dataclass(frozen=True)
class Step:
    x: np.ndarray

checkpoint = Checkpoint(Path(sys.argv[1]), identity("d", {}), every=0.0)
rng = np.random.default_rng(1)
x = np.zeros(20000)
print("started", flush=True)
for k in range(15):
    def compute():
        time.sleep(0.02)
        return Step(np.cos(x + rng.standard_normal(20000)))
    x = staged(checkpoint, f"step{k}", compute, Step, rng).x
print(x.tobytes().hex()[:64], rng.random(), flush=True)
"""


def test_killed_at_random_moments_it_ends_with_the_same_bits(tmp_path):
    """A stand-in of fifteen random stages, killed until it gets through; nothing half-written."""

    def run(folder, seconds=None):
        command = [sys.executable, "-c", STAGED, str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        if seconds is not None:
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
        output = process.communicate()[0]
        return output if process.returncode == 0 else None

    expected = run(tmp_path / "whole")
    assert expected
    moments = np.random.default_rng(int(os.environ.get("RCWEB_SEED", 0))).uniform(0, 0.15, 4)
    for seconds in moments:
        run(tmp_path / "killed", seconds)
    assert run(tmp_path / "killed") == expected
    names = sorted(path.name for path in (tmp_path / "killed").iterdir())
    assert names == sorted(f"step{k}.stage" for k in range(15))
