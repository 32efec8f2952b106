"""Files of the user's in or beside a folder of results: none is replaced, none is lost."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rcweb.storage import folder as folder_module
from rcweb.storage.atomic import write_text
from rcweb.storage.folder import check_folder, replacing_folder
from rcweb.storage.provenance import MAX_RECORD_BYTES, read_provenance, sealed

NAMES = ("a", "b", "provenance.json")
RECORD = {"rcweb": "0", "finished": "now"}


def write(out: Path, text: str = "ours", **options) -> None:
    with replacing_folder(out, NAMES, RECORD, **options) as folder:
        (folder / "a").write_text(text)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def out(tmp_path) -> Path:
    """A result."""
    write(tmp_path / "out")
    return tmp_path / "out"


def refused(out: Path, match: str, **options) -> None:
    """Before the work and when it is to be written; and nothing changes."""
    before = content(out) if all(path.is_file() for path in out.iterdir()) else None
    with pytest.raises(ValueError, match=match):
        check_folder(out, NAMES, **options)
    with pytest.raises(ValueError, match=match):
        write(out, "new", **options)
    assert before is None or content(out) == before
    assert [path.name for path in out.parent.iterdir()] == [out.name]


def test_a_result_of_ours_is_replaced(out):
    """As often as one likes."""
    for text in ("second", "third"):
        check_folder(out, NAMES)
        write(out, text)
        assert (out / "a").read_text() == text


@pytest.mark.parametrize("one_step", [True, False])
def test_files_of_other_names_are_kept(out, monkeypatch, one_step):
    """The very same files, not copies."""
    if not one_step:
        monkeypatch.setattr(folder_module, "_swap", lambda a, b: False)
    (out / "thesis.doc").write_text("years")
    before = (out / "thesis.doc").stat()
    check_folder(out, NAMES)
    write(out, "new")
    after = (out / "thesis.doc").stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_nlink) == (
        before.st_ino,
        before.st_mtime_ns,
        1,
    )
    assert (out / "a").read_text() == "new"
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_a_file_of_our_name_that_is_not_ours(out, tmp_path):
    """In a folder without any record, and in one whose record does not hold it."""
    (out / "b").write_text("the user's")
    refused(out, r"rcweb did not write .*out/b: .*--overwrite")
    (out / "provenance.json").unlink()
    refused(out, r"rcweb did not write .*out/a: .*--overwrite")
    check_folder(out, NAMES, overwrite=True)
    write(out, "new", overwrite=True)
    assert (out / "a").read_text() == "new"
    assert not (out / "b").exists()


@pytest.mark.parametrize("name", ["a", "provenance.json"])
@pytest.mark.parametrize("same_size", [True, False])
def test_a_file_of_ours_that_was_changed(out, name, same_size):
    """Also if the size is the same, also the record itself."""
    text = (out / name).read_text()
    (out / name).write_text(
        text.replace("ours" if name == "a" else "rcweb", "OURS!"[: 5 - same_size])
    )
    refused(out, rf"out/{name} was changed after rcweb wrote it: .*--overwrite")
    write(out, "new", overwrite=True)
    check_folder(out, NAMES)


def test_a_result_of_an_earlier_version_says_how_to_go_on(out):
    """Its record holds no checksums."""
    record = json.loads((out / "provenance.json").read_text())
    del record["files"], record["sha256"]
    (out / "provenance.json").write_text(json.dumps(record))
    refused(out, r"has no checksums of files \(an earlier version.*--overwrite")
    write(out, overwrite=True)


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("name", ["a", "thesis"])
@pytest.mark.parametrize("kind", ["link", "folder", "device"])
def test_only_files_are_replaced_or_kept(out, tmp_path, kind, name, overwrite):
    """A folder called as a file of ours, links and pipes are refused whatever was asked for."""
    path = out / name
    path.unlink(missing_ok=True)
    if kind == "link":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    refused(out, f"out/{name} is a {kind}", overwrite=overwrite)
    assert os.path.lexists(path)


@pytest.mark.parametrize("overwrite", [False, True])
def test_an_input_in_the_output_folder(tmp_path, overwrite):
    """Whatever its name, by whatever way it is named, and an output in an input too."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "t.csv").write_text("1")
    (tmp_path / "link.csv").symlink_to(out / "t.csv")
    for path in (out / "t.csv", tmp_path / "link.csv", tmp_path / "out" / ".." / "out" / "t.csv"):
        with pytest.raises(ValueError, match=r"The input .* is part of the output .*out; name"):
            check_folder(out, NAMES, inputs=[path], overwrite=overwrite)
    with pytest.raises(ValueError, match=r"The output .* is part of the input .*out; name"):
        check_folder(out / "deeper" / "x", NAMES, inputs=[out], overwrite=overwrite)
    check_folder(tmp_path / "other", NAMES, inputs=[out / "t.csv"])


def test_places_that_are_no_folder_for_results(tmp_path, monkeypatch):
    """A file, the current folder, one that holds it, a mount point."""
    (tmp_path / "thesis.doc").write_text("years")
    with pytest.raises(ValueError, match="is a file"):
        check_folder(tmp_path / "thesis.doc", NAMES)
    with pytest.raises(ValueError, match="mount point"):
        check_folder("/", NAMES)
    (tmp_path / "deeper").mkdir()
    monkeypatch.chdir(tmp_path / "deeper")
    for path in (".", ".."):
        with pytest.raises(ValueError, match="current folder"):
            check_folder(path, NAMES)


def test_rights_are_tried_before_the_work(out, monkeypatch):
    """Where nothing can be made, or the user's files cannot be linked, nothing begins."""
    (out / "thesis.doc").write_text("years")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("os.link", refuse)
        with pytest.raises(ValueError, match=r"out cannot be written \(Permission denied\)"):
            check_folder(out, NAMES)
    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(ValueError, match=r"x/y cannot be written \(Permission denied\)"):
        check_folder(out.parent / "x" / "y", NAMES)


@pytest.mark.parametrize("moment", ["work", "exchange"])
def test_what_others_write_during_the_work_is_kept(out, monkeypatch, moment):
    """New files stay; a change to a file of ours leaves both results and says where."""

    (out / "early.txt").write_text("early")

    def interfere() -> None:
        (out / "late.txt").write_text("late")
        (out / "a").write_text("edited")

    exchange = folder_module._exchange
    if moment == "exchange":
        calls = []

        def interfere_first(a, b):
            if not calls:
                interfere()
            calls.append(a)
            exchange(a, b)

        monkeypatch.setattr(folder_module, "_exchange", interfere_first)
    else:
        monkeypatch.setattr(folder_module, "sealed", lambda *args: interfere() or sealed(*args))
    with pytest.raises(ValueError, match=r"out/a was changed .* The new result is in .*out-2\."):
        write(out, "new")
    assert ((out / "a").read_text(), (out / "late.txt").read_text()) == ("edited", "late")
    assert set(content(out.parent / "out-2")) == {"a", "provenance.json"}
    assert (out.parent / "out-2" / "a").read_text() == "new"
    assert {path.name for path in out.parent.iterdir()} == {"out", "out-2"}


def test_a_file_saved_at_the_last_moment_is_the_one_that_stays(out, monkeypatch):
    """Editors save by a new file of the same name."""
    (out / "notes.txt").write_text("early")
    exchange = folder_module._exchange

    def save_first(a, b):
        write_text(out / "notes.txt", "late")
        (out / "more.txt").write_text("late")
        exchange(a, b)

    monkeypatch.setattr(folder_module, "_exchange", save_first)
    write(out, "new")
    assert (out / "a").read_text() == "new"
    assert ((out / "notes.txt").read_text(), (out / "more.txt").read_text()) == ("late", "late")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 50 + "1" + "}" * 50, "nested too deeply"),
        (" " * (MAX_RECORD_BYTES + 1), "larger than"),
        ("nul", "not JSON"),
        ('{"files": {"a": 1}}', "form that rcweb gives it"),
    ],
    ids=["unreadable", "deep", "large", "no JSON", "odd"],
)
def test_a_record_from_a_stranger(out, text, match):
    """One sentence, whoever reads it."""
    (out / "provenance.json").write_text(text)
    with pytest.raises(ValueError, match=match):
        read_provenance(out)
    refused(out, rf"\(.*{match}.*(?<!\.)\): name another folder")
