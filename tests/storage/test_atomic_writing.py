"""A killed or failed run leaves the old result or the new one, never half of one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time

import pytest

from rcweb.storage import folder as folder_module
from rcweb.storage.atomic import replacing, write_text
from rcweb.storage.folder import check_folder, new_folder, replacing_folder

RECORD = {"rcweb": "0"}
NAMES = ("a", "b", "provenance.json")


def fail_after_writing(path) -> None:
    """What a run looks like that breaks off in the middle."""
    path.write_text("half")
    raise RuntimeError("stop")


def test_a_failed_write_keeps_the_old_file_and_leaves_no_litter(tmp_path):
    """The error comes through, the file does not change."""
    write_text(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError, match="stop"), replacing(tmp_path / "a.txt") as temporary:
        fail_after_writing(temporary)
    assert (tmp_path / "a.txt").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path):
    """Temporary files are private; results are not."""
    write_text(tmp_path / "new.txt", "x")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o666 & ~mask
    (tmp_path / "new.txt").chmod(0o600)
    write_text(tmp_path / "new.txt", "y")
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o600


@pytest.mark.parametrize("one_step", [True, False])
def test_a_folder_is_replaced_as_a_whole(tmp_path, monkeypatch, one_step):
    """Files of the old result do not survive in the new one; both ways of exchange."""
    if not one_step:
        monkeypatch.setattr(folder_module, "_swap", lambda a, b: False)
    names = ("old.txt", "new.txt", "provenance.json")
    for name in names[:2]:
        with replacing_folder(tmp_path / "out", names, RECORD) as folder:
            (folder / name).write_text(name)
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"new.txt", "provenance.json"}
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_failed_run_leaves_the_old_folder(tmp_path):
    """And no temporary one."""
    with replacing_folder(tmp_path / "out", NAMES, RECORD) as folder:
        (folder / "a").write_text("old")
    with pytest.raises(RuntimeError), replacing_folder(tmp_path / "out", NAMES, RECORD) as folder:
        fail_after_writing(folder / "a")
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_files_to_keep_stay_unless_they_are_written_anew(tmp_path):
    """Annotating must not lose what it cannot write."""
    out = tmp_path / "out"
    for names, text in (("ab", "old"), ("b", "new")):
        with replacing_folder(out, NAMES, RECORD, keep=("a", "b")) as folder:
            for name in names:
                (folder / name).write_text(text)
    assert {p.name for p in out.iterdir()} == set(NAMES)
    assert ((out / "a").read_text(), (out / "b").read_text()) == ("old", "new")
    check_folder(out, NAMES)


def test_leftovers_of_killed_runs_are_removed_after_a_day(tmp_path):
    """Old ones go; one that may belong to a run in progress stays."""
    for name, age in ((".out.old.partial", 2 * 86400), (".out.new.partial", 0)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    with replacing_folder(tmp_path / "out", NAMES, RECORD) as folder:
        (folder / "a").write_text("x")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".out.new.partial", "out"]


def test_a_leftover_with_the_only_copy_of_a_file_stays(tmp_path):
    """A killed run may have been handed a file at the last moment."""
    left = tmp_path / ".out.old.partial"
    left.mkdir()
    for name in ("a", "thesis.doc"):
        (left / name).write_text("years")
    os.utime(left, (time.time() - 2 * 86400,) * 2)
    with replacing_folder(tmp_path / "out", NAMES, RECORD):
        pass
    assert (left / "thesis.doc").exists()
    os.link(left / "thesis.doc", tmp_path / "thesis.doc")
    with replacing_folder(tmp_path / "out", NAMES, RECORD):
        pass
    assert not left.exists()


def test_a_new_folder_takes_its_name_when_it_is_whole(tmp_path):
    """Until then it has another name, and a failure leaves nothing."""
    with pytest.raises(RuntimeError), new_folder(tmp_path / "t.zarr") as folder:
        fail_after_writing(folder / "a")
    assert list(tmp_path.iterdir()) == []
    with new_folder(tmp_path / "t.zarr") as folder:
        (folder / "a").write_text("x")
        assert not (tmp_path / "t.zarr").exists()
    assert (tmp_path / "t.zarr" / "a").read_text() == "x"


KILLED = """
import sys, time
from pathlib import Path
from rcweb.storage.folder import replacing_folder
n = 0
while True:
    n += 1
    with replacing_folder(sys.argv[1], ("a", "b", "provenance.json"), {}) as folder:
        (folder / "a").write_text(str(n) * 10000)
        (folder / "b").write_text(str(n) * 10000)
    print(n, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one-step exchange is of Linux")
def test_killed_runs_leave_a_whole_folder(tmp_path):
    """Kill a writer in full swing, ten times: both files are of one run, the user's is kept."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.doc").write_text("years")
    for k in range(10):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(out)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.005 * k)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        assert (out / "a").read_text() == (out / "b").read_text() != ""
        assert (out / "thesis.doc").read_text() == "years"
        check_folder(out, NAMES)
