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
from rcweb.storage.folder import replacing_folder


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
    for name in ("old.txt", "new.txt"):
        with replacing_folder(tmp_path / "out", ("old.txt", "new.txt")) as folder:
            (folder / name).write_text(name)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["new.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_failed_run_leaves_the_old_folder(tmp_path):
    """And no temporary one."""
    with replacing_folder(tmp_path / "out", ("a",)) as folder:
        (folder / "a").write_text("old")
    with pytest.raises(RuntimeError), replacing_folder(tmp_path / "out", ("a",)) as folder:
        fail_after_writing(folder / "a")
    assert (tmp_path / "out" / "a").read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_keep_starts_from_what_is_there(tmp_path):
    """Annotating must not lose what it does not write."""
    for name in ("a", "b"):
        with replacing_folder(tmp_path / "out", ("a", "b"), keep=True) as folder:
            (folder / name).write_text(name)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a", "b"]


def test_leftovers_of_killed_runs_are_removed_after_a_day(tmp_path):
    """Old ones go; one that may belong to a run in progress stays."""
    for name, age in ((".out.old.partial", 2 * 86400), (".out.new.partial", 0)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    with replacing_folder(tmp_path / "out", ("a",)) as folder:
        (folder / "a").write_text("x")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".out.new.partial", "out"]


def test_folders_with_other_peoples_files_are_refused(tmp_path, monkeypatch):
    """Replacing a folder must never delete what rcweb did not write."""
    (tmp_path / "thesis.doc").write_text("years")
    with (
        pytest.raises(ValueError, match=r"did not write \(thesis\.doc\)"),
        replacing_folder(tmp_path, ("a",)),
    ):
        pass
    with (
        pytest.raises(ValueError, match="is a file"),
        replacing_folder(tmp_path / "thesis.doc", ("a",)),
    ):
        pass
    (tmp_path / "thesis.doc").unlink()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="current folder"), replacing_folder(".", ("a",)):
        pass


KILLED = """
import sys, time
from pathlib import Path
from rcweb.storage.folder import replacing_folder
n = 0
while True:
    n += 1
    with replacing_folder(sys.argv[1], ("a", "b")) as folder:
        (folder / "a").write_text(str(n) * 10000)
        (folder / "b").write_text(str(n) * 10000)
    print(n, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="one-step exchange is of Linux")
def test_killed_runs_leave_a_whole_folder(tmp_path):
    """Kill a writer in full swing, ten times: both files are there and of the same run."""
    out = tmp_path / "out"
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
