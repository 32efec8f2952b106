"""A fitted model in one file that is safe to load from strangers: arrays and JSON, no pickle.

``model.rcweb`` is a zip of ``model.json`` (format version, parameters, names, small results) and
one ``arrays/NAME.npy`` per fitted array. Loading reads it in memory, sets data attributes only,
and checks names, sizes and shapes before. Files of every released version load (docs/versions.md).
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rcweb.storage.arrays import ArrayError, array_from_bytes, array_to_bytes, read_zip
from rcweb.storage.atomic import write_bytes
from rcweb.storage.errors import ModelError, reason, shorten
from rcweb.storage.limits import unpackable
from rcweb.storage.plain import from_plain, plain
from rcweb.storage.version import __version__
from rcweb.tables.check import InputCheck

if TYPE_CHECKING:
    from rcweb.estimator import RCweb

FORMAT = "rcweb-model"
VERSION = 1
MAX_BYTES = 8 << 30
# Results of a fit end in "_"; the private ones are the rows behind its tables.
_ATTRIBUTE = re.compile(
    r"[a-z][a-z0-9_]{0,60}_|_diagnosis|_evidence|_measured|_prior|_prior_sources"
)
_ARRAY_MEMBER = re.compile(r"arrays/([a-z][a-z0-9_]{0,60}_)\.npy")
# Of use only right after the fit, and of any type.
_NOT_SAVED = ("trace_",)
# Parameters about the machine and not the result; a stranger's file must not name paths here.
_LOCAL = ("checkpoint", "max_memory", "prior", "groups")
_NEEDED = ("components_", "projection_", "mean_", "noise_", "edge_probability_", "edge_score_")


def save_model(model: RCweb, path: str | Path) -> None:
    """Write a fitted model to a file, atomically; the same model gives the same bytes.

    model : a fitted `RCweb`; ``rcweb.storage.errors.ModelError`` (a ValueError) if it is not
    path : of the file, replaced if it is there; by custom it ends in .rcweb

    All results are kept but `trace_`; of the parameters all but `checkpoint`, `max_memory`, `prior`
    and `groups`, which are about the machine.

    Examples
    --------
    >>> from rcweb import RCweb, load_model, save_model
    >>> from rcweb.simulate import simulate
    >>> X = simulate(60, 40, 3, random_state=0).data
    >>> model = RCweb(3).fit(X)
    >>> save_model(model, "model.rcweb")
    >>> bool((load_model("model.rcweb").transform(X) == model.transform(X)).all())
    True
    """
    write_bytes(path, model_to_bytes(model))


def model_to_bytes(model: RCweb) -> bytes:
    """The bytes of the model file."""
    fitted = _fitted(model)
    if "components_" not in fitted:
        raise ModelError("The model is not fitted; call fit first.")
    arrays = {
        k: v for k, v in fitted.items() if isinstance(v, np.ndarray) and v.dtype.kind in "biuf"
    }
    document = {
        "format": FORMAT,
        "version": VERSION,
        "rcweb": __version__,
        "parameters": {k: _parameter(v) for k, v in model.get_params().items() if k not in _LOCAL},
        "values": {name: _value(v) for name, v in fitted.items() if name not in arrays},
        "arrays": sorted(arrays),
    }
    text = json.dumps(document, allow_nan=False, indent=1)
    # Names may hold lone surrogates (undecodable bytes of a file); keep them.
    members = {"model.json": text.encode("utf-8", errors="surrogatepass")}
    members |= {f"arrays/{name}.npy": array_to_bytes(arrays[name]) for name in sorted(arrays)}
    return _zip(members)


def load_model(path: str | Path) -> RCweb:
    """The fitted model in a file; its ``transform`` gives the same bits.

    path : of a file written by `save_model` or `rcweb fit`, of this version or an earlier one

    Raises ``rcweb.storage.errors.ModelError`` (a ValueError) for any other file. No code in a file
    is ever run, so that files of strangers are safe.

    Examples
    --------
    >>> from rcweb import RCweb, load_model, save_model
    >>> from rcweb.simulate import simulate
    >>> save_model(RCweb(3).fit(simulate(60, 40, 3, random_state=0).data), "model.rcweb")
    >>> load_model("model.rcweb").network_
    Network(3 regulators, 40 targets, 15 edges)
    """
    path = Path(path)
    if path.is_dir():
        raise ModelError(
            f"{str(path)!r} is a folder; the model of a result is {str(path / 'model.rcweb')!r}."
        )
    if not path.is_file():
        raise ModelError(f"There is no file {str(path)!r}.")
    try:
        members = read_zip(path, max_bytes=unpackable(MAX_BYTES), allowed=_is_member)
        document = _document(members)
        arrays = {
            name: array_from_bytes(members[f"arrays/{name}.npy"]) for name in document["arrays"]
        }
        return _rebuild(document, arrays)
    except ModelError as error:
        raise ModelError(f"{path.name}: {error}") from None
    # A damaged file can fail in any of these ways; users get one kind of error.
    except (ArrayError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ModelError(f"{path.name} is not a model of rcweb: {reason(error)}.") from None


def _fitted(model: RCweb) -> dict[str, Any]:
    return {
        name: value
        for name, value in model.__getstate__().items()
        if _ATTRIBUTE.fullmatch(name) and name not in _NOT_SAVED
    }


def _value(value: Any) -> Any:
    if isinstance(value, InputCheck):  # files beside the table are no part of the model
        return plain(replace(value, matches=()).to_plain())
    return plain(value)


def _parameter(value: Any) -> Any:
    """A random generator has no plain form and no meaning after the fit: None."""
    try:
        return plain(value)
    except TypeError:
        return None


def _zip(members: dict[str, bytes]) -> bytes:
    """A zip with fixed dates, so that the same content has the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=6)
    return stream.getvalue()


def _is_member(name: str) -> bool:
    return name == "model.json" or _ARRAY_MEMBER.fullmatch(name) is not None


def _document(members: dict[str, bytes]) -> dict[str, Any]:
    if "model.json" not in members:
        raise ModelError("it holds no model.json, so it is not a model of rcweb.")
    document = json.loads(members["model.json"])
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelError("it is not a model of rcweb.")
    version = document.get("version")
    if not isinstance(version, int) or version < 1:
        raise ModelError(f"it has the format version {version!r}, which no rcweb has written.")
    if version > VERSION:
        raise ModelError(
            f"it has format version {version!r}, this rcweb ({__version__}) reads up to {VERSION}; "
            "a newer rcweb wrote it: pip install --upgrade rcweb"
        )
    return document


def _rebuild(document: dict[str, Any], arrays: dict[str, np.ndarray]) -> RCweb:
    from rcweb.estimator import RCweb

    parameters = from_plain(document["parameters"])
    # A checkpoint path in a stranger's file would make a later fit write there.
    if local := [name for name in _LOCAL if name in parameters]:
        raise ModelError(f"the parameter {local[0]!r} is no part of a model.")
    known = RCweb().get_params()
    # A newer version of the same format may have a parameter more.
    if unknown := [name for name in parameters if name not in known]:
        raise ModelError(
            f"rcweb {shorten(document.get('rcweb'))} wrote it with the parameter "
            f"{shorten(unknown[0])}, which this rcweb ({__version__}) does not have: "
            "pip install --upgrade rcweb"
        )
    model = RCweb(**parameters)
    for name, value in {**document["values"], **arrays}.items():
        # A file must not overwrite methods or properties of the class.
        if not _ATTRIBUTE.fullmatch(name) or hasattr(type(model), name):
            raise ModelError(f"{name!r} is not a result of a fit.")
        setattr(model, name, _as_fitted(name, value))
    _add_what_older_files_lack(model)
    _check_shapes(model, arrays)
    return model


def _add_what_older_files_lack(model: RCweb) -> None:
    """Results that came after version 0.1, where "nothing" can be said; `n_samples_` cannot."""
    later: dict[str, Any] = {"input_": InputCheck(), "weights_sd_": None}
    later |= {"regulator_names_": {}, "target_names_": {}}
    later |= {"response_": np.empty(0), "response_slopes_": np.empty(0)}
    for name, nothing in later.items():
        if not hasattr(model, name):
            setattr(model, name, nothing)


def _as_fitted(name: str, value: Any) -> Any:
    """JSON has no tuples and no arrays of names."""
    if name == "feature_names_in_":
        return np.array(list(map(str, value)), dtype=object)
    if name in ("regulator_names_", "target_names_"):
        return {str(key): str(text) for key, text in value.items()}
    if name == "input_":
        return InputCheck.from_plain(value)
    if name in ("warnings_", "study_names_"):
        return tuple(map(str, value))
    return value if isinstance(value, np.ndarray) else from_plain(value)


def _check_shapes(model: RCweb, arrays: dict[str, np.ndarray]) -> None:
    """Check that the parts of a fit are consistent, before any of them is used."""
    missing = [name for name in _NEEDED if name not in arrays]
    if missing:
        raise ModelError(f"{missing[0]} is missing.")
    P, N = model.network_.shape  # builds the network, which checks its own arrays
    shapes = {"projection_": (N, P), "mean_": (N,), "noise_": (N,), "weights_sd_": (P, N)}
    bent = model.response_.size > 0
    shapes |= {"response_": (4 * bent,), "response_slopes_": (N * bent,)}
    for name, shape in shapes.items():
        found = getattr(model, name)
        # Older files have no standard errors of the weights.
        if found is not None and found.shape != shape:
            raise ModelError(f"{name} has shape {found.shape}, expected {shape}.")
    if hasattr(model, "study_names_"):
        S = len(model.study_names_)
        for name, shape in (("study_means_", (S, N)), ("study_noise_", (S,))):
            if name not in arrays or arrays[name].shape != shape:
                raise ModelError(f"{name} does not belong to {S} studies.")
    if (model.n_components_, model.n_features_in_) != (P, N):
        raise ModelError("The numbers of regulators and variables contradict the arrays.")
