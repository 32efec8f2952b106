"""Saved models: the same bits after loading, and nothing a stranger's file could do."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest

from rcweb import RCweb
from rcweb.estimator import load_model, save_model
from rcweb.lab.simulate import simulate
from rcweb.storage.errors import ModelError


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    truth = simulate(60, 40, 3, noise=0.05, random_state=0)
    return pd.DataFrame(truth.data, columns=[f"gene {j}" for j in range(40)])


@pytest.fixture(scope="module")
def model(data) -> RCweb:
    return RCweb(3, method="paper", paper_options={"k": 5}).fit(data)


@pytest.fixture
def saved(model, tmp_path):
    save_model(model, tmp_path / "model.rcweb")
    return tmp_path / "model.rcweb"


def members_of(path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_members(path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def test_a_loaded_model_gives_the_same_bits(model, saved, data):
    """The promise of issue E, for transform and for everything a report shows."""
    loaded = load_model(saved)
    assert loaded.transform(data).tobytes() == model.transform(data).tobytes()
    assert loaded.inverse_transform(loaded.transform(data)).tobytes() == (
        model.inverse_transform(model.transform(data)).tobytes()
    )
    assert loaded.get_params() == model.get_params()
    pd.testing.assert_frame_equal(loaded.network_.edges(), model.network_.edges(), check_exact=True)
    pd.testing.assert_frame_equal(loaded.diagnosis_, model.diagnosis_, check_exact=True)
    pd.testing.assert_frame_equal(loaded.evidence_, model.evidence_, check_exact=True)
    assert (loaded.reason_, loaded.warnings_) == (model.reason_, model.warnings_)


def test_names_are_kept_with_the_model(model, tmp_path):
    """Set, saved, loaded: the same names; a new fit begins without any."""
    named = pickle.loads(pickle.dumps(model))
    target = named.network_.targets[0]
    named.set_names({"rcweb0": "SigB"}, {target: "araC", "not measured": "lacZ", "float": "x"})
    save_model(named, tmp_path / "model.rcweb")
    network = load_model(tmp_path / "model.rcweb").network_
    assert network.regulator_names[:2] == ("SigB", "rcweb1")
    assert network.target_names[:2] == ("araC", network.targets[1])
    assert network.regulators == model.network_.regulators
    named.set_names(pd.Series({"rcweb0": "", "rcweb1": "fur"}))
    assert named.network_.regulator_names[:2] == ("rcweb0", "fur")
    assert named.network_.target_names[0] == "araC", "what is not given stays"
    with pytest.raises(ValueError, match="no regulator 'rcweb99'"):
        named.set_names({"rcweb99": "fur"})


def test_a_model_saved_before_there_were_names_loads(saved, tmp_path):
    """Ids are its names."""
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    document = json.loads(members["model.json"])
    assert document["values"].pop("regulator_names_") == {}
    assert document["values"].pop("target_names_") == {}
    members["model.json"] = json.dumps(document).encode()
    write_members(tmp_path / "old.rcweb", members)
    network = load_model(tmp_path / "old.rcweb").network_
    assert network.regulator_names == network.regulators
    document["values"]["regulator_names_"] = ["fur"]
    write_members(tmp_path / "bad.rcweb", members | {"model.json": json.dumps(document).encode()})
    with pytest.raises(ModelError, match="not a model of rcweb"):
        load_model(tmp_path / "bad.rcweb")


def test_the_order_in_memory_survives(model, data, tmp_path):
    """Engines leave arrays in either order, and BLAS sums differently over each."""
    for order in ("C", "F"):
        changed = pickle.loads(pickle.dumps(model))
        changed.projection_ = np.array(model.projection_, order=order)
        save_model(changed, tmp_path / "model.rcweb")
        loaded = load_model(tmp_path / "model.rcweb")
        assert loaded.projection_.flags.f_contiguous == (order == "F")
        assert loaded.transform(data).tobytes() == changed.transform(data).tobytes()


def test_a_loaded_model_can_be_saved_again_to_the_same_bytes(saved, tmp_path):
    """Same model, same bytes; nothing is lost on the way."""
    save_model(load_model(saved), tmp_path / "again.rcweb")
    assert (tmp_path / "again.rcweb").read_bytes() == saved.read_bytes()


def test_values_that_json_lacks_survive(model, tmp_path):
    """NaN in a diagnosis must come back as NaN, in strict JSON."""
    changed = pickle.loads(pickle.dumps(model))
    changed._diagnosis = [{"a": float("nan"), "b": float("-inf"), "c": "x"}] * 3
    save_model(changed, tmp_path / "m.rcweb")
    json.loads(members_of(tmp_path / "m.rcweb")["model.json"], parse_constant=pytest.fail)
    pd.testing.assert_frame_equal(load_model(tmp_path / "m.rcweb").diagnosis_, changed.diagnosis_)


def test_an_unfitted_model_is_refused(tmp_path):
    """And leaves no file."""
    with pytest.raises(ModelError, match="not fitted"):
        save_model(RCweb(), tmp_path / "m.rcweb")
    assert not list(tmp_path.iterdir())


def test_pickles_inside_are_refused(saved, tmp_path):
    """The one way an array file could run code."""
    members = members_of(saved)
    members["arrays/mean_.npy"] = npy(np.array([{}] * 40, dtype=object), allow_pickle=True)
    write_members(tmp_path / "evil.rcweb", members)
    with pytest.raises(ModelError, match="only numbers and text"):
        load_model(tmp_path / "evil.rcweb")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.npy",
        "/etc/passwd",
        "arrays/../../x_.npy",
        "arrays/a_.npy/..",
        "C:\\x",
        "arrays/__class__.npy",
    ],
)
def test_path_tricks_are_refused(saved, tmp_path, name):
    """Nothing is unpacked to disk, and strange members are not even read."""
    write_members(tmp_path / "evil.rcweb", {**members_of(saved), name: b"x"})
    with pytest.raises(ModelError, match="unexpected member"):
        load_model(tmp_path / "evil.rcweb")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["evil.rcweb", "model.rcweb"]


def test_a_bomb_is_refused_before_unpacking(saved, tmp_path, monkeypatch):
    """A zip of zeros is a thousand times smaller than what it unpacks to."""
    monkeypatch.setattr("rcweb.estimator.model_file.MAX_BYTES", 100_000)
    members = {**members_of(saved), "arrays/noise_.npy": bytes(1_000_000)}
    with zipfile.ZipFile(tmp_path / "bomb.rcweb", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert (tmp_path / "bomb.rcweb").stat().st_size < 100_000
    with pytest.raises(ModelError, match="would unpack to"):
        load_model(tmp_path / "bomb.rcweb")


def edit_document(members: dict[str, bytes], **changes) -> dict[str, bytes]:
    document = json.loads(members["model.json"]) | changes
    return {**members, "model.json": json.dumps(document).encode()}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 2}, "pip install --upgrade rcweb"),
        ({"format": "other"}, "not a model of rcweb"),
        ({"values": {"transform": 1}}, "'transform' is not a result"),
        ({"values": {"network_": 1}}, "'network_' is not a result"),
        ({"values": {"__class__": 1}}, "'__class__' is not a result"),
        ({"parameters": {"evil": 1}}, "evil"),
        ({"arrays": ["absent_"]}, "absent_"),
        ({"arrays": ["components_"]}, "projection_ is missing"),
        ({"values": {}}, "not a model of rcweb"),
    ],
)
def test_documents_that_lie_are_refused(saved, tmp_path, changes, message):
    """Only data attributes of a fit can be set, and all of them must be there."""
    write_members(tmp_path / "evil.rcweb", edit_document(members_of(saved), **changes))
    with pytest.raises(ModelError, match=message):
        load_model(tmp_path / "evil.rcweb")


def test_arrays_that_do_not_belong_together_are_refused(saved, tmp_path):
    """A wrong shape shows on loading, not in a later result."""
    members = members_of(saved) | {"arrays/projection_.npy": npy(np.zeros((3, 3)))}
    write_members(tmp_path / "evil.rcweb", members)
    with pytest.raises(ModelError, match=r"projection_ has shape \(3, 3\), expected \(40, 3\)"):
        load_model(tmp_path / "evil.rcweb")


def test_a_response_without_its_slopes_is_refused(model, saved, tmp_path):
    """Before a transform multiplies by what is not there."""
    members = members_of(saved)
    assert model.response_.size == model.response_slopes_.size == 0
    members["arrays/response_.npy"] = npy(np.array([0.0, 1.0, 2.0, np.inf]))
    write_members(tmp_path / "lying.rcweb", members)
    with pytest.raises(ModelError, match=r"response_slopes_ has shape \(0,\)"):
        load_model(tmp_path / "lying.rcweb")


def test_damaged_files_are_refused_or_harmless(saved, tmp_path):
    """1,000 damaged copies: an error of one class, or a model that can be used."""
    rng = np.random.default_rng(0)
    content = saved.read_bytes()
    path = tmp_path / "fuzz.rcweb"
    outcomes = set()
    for _ in range(1000):
        broken = bytearray(content)
        for place in rng.integers(0, len(broken), rng.integers(1, 5)):
            broken[place] = rng.integers(256)
        path.write_bytes(broken[: rng.integers(1, len(broken))] if rng.random() < 0.2 else broken)
        try:
            outcomes.add(load_model(path).n_components_)
        except ModelError:
            outcomes.add("refused")
    assert "refused" in outcomes


def test_a_missing_file_is_named(tmp_path):
    """The first mistake anyone makes."""
    with pytest.raises(ModelError, match=r"There is no file .*absent\.rcweb"):
        load_model(tmp_path / "absent.rcweb")
    with pytest.raises(ModelError, match=r"is a folder; the model .*model\.rcweb"):
        load_model(tmp_path)
