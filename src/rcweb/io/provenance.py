"""What a result was made from, so that it can be made again."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rcweb._version import __version__
from rcweb.io.plain import plain

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "pandas")


def provenance(
    *,
    inputs: Mapping[str, Mapping[str, Any]],
    parameters: Mapping[str, Any],
    seed: int | None,
    input_check: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """A record of one run. All but the field ``finished`` is the same for the same run.

    `inputs` : ``{role: {"file": name, "sha256": checksum, ...}}``; `input_check` : what was said
    of them, as of `InputCheck.to_plain`.
    """
    return {
        "rcweb": __version__,
        "inputs": plain({role: dict(facts) for role, facts in inputs.items()}),
        "input_check": plain(dict(input_check or {})),
        "parameters": plain(dict(parameters)),
        "seed": seed,
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def provenance_text(record: Mapping[str, Any]) -> str:
    """The record as JSON."""
    return json.dumps(record, indent=2, allow_nan=False) + "\n"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
