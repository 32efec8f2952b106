"""Checks of the estimator's parameters; each error names the value and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from os import PathLike
from typing import Any

import numpy as np

from rcweb.engine.methods import FIT_METHODS
from rcweb.storage.memory import parse_size

QUALITIES = ("standard", "high")
RESPONSES = ("auto", "linear")
_PAPER_OPTIONS: dict[str, tuple[type, ...]] = {
    "k": (Integral,),
    "epsilon": (Real,),
    "switch_back": (str,),
}


def check_parameters(given: Mapping[str, Any]) -> None:
    """Check the parameters of `RCweb`, as ``get_params`` returns them."""
    if given["n_components"] != "auto":
        _check_integer("n_components", given["n_components"], "'auto' or a whole number")
    if given["degree"] is not None:
        _check_integer("degree", given["degree"], "None or a whole number")
    _check_choice("method", given["method"], tuple(FIT_METHODS))
    _check_choice("quality", given["quality"], QUALITIES)
    _check_choice("response", given["response"], RESPONSES)
    _check_number("fdr", given["fdr"])
    if not (isinstance(given["center"], bool | np.bool_) or given["center"] == "auto"):
        raise ValueError(f"center must be True, False or 'auto', not {given['center']!r}.")
    if not isinstance(given["doubtful"], bool | np.bool_):
        raise ValueError(f"doubtful must be True or False, not {given['doubtful']!r}.")
    _check_paper_options(given["paper_options"])
    if given["checkpoint"] is not None:
        _check_checkpoint(given["checkpoint"], given["method"], given["random_state"])
    if given["prior"] is not None and given["method"] != "refined":
        raise ValueError(
            f"prior is for method 'refined', not {given['method']!r}, whose steps are those of the "
            "paper; `rcweb.knowledge` names its regulators after known ones."
        )
    if given["groups"] is not None and given["prior"] is None:
        raise ValueError("groups says which members of prior are related; give prior too.")
    if given["max_memory"] is not None:
        parse_size(given["max_memory"])


def check_sizes(
    n_components: int | str, degree: int | None, shape: tuple[int, ...], center: bool
) -> None:
    """Rank at most min(M, N), one less when centred; and the method needs P < N."""
    M, N = shape
    if degree is not None and degree >= N:
        raise ValueError(
            f"degree={degree} must be smaller than the number of variables that vary, {N}."
        )
    if isinstance(n_components, str):
        return
    if n_components >= N:
        raise ValueError(
            f"n_components={n_components} must be smaller than the number of variables that vary, "
            f"{N}."
        )
    # Centring makes the rows sum to zero, which costs one dimension.
    rank = min(M - 1, N) if center else min(M, N)
    if n_components > rank:
        raise ValueError(
            f"n_components={n_components} is more than the rank of the table can be, {rank} "
            f"({M} samples{', centred' if center else ''}); ask for fewer or 'auto'."
        )


def _check_checkpoint(checkpoint: Any, method: str, random_state: Any) -> None:
    if not isinstance(checkpoint, str | PathLike):
        raise TypeError(f"checkpoint must be None or a path, not {checkpoint!r}.")
    # Other methods have no stages to save.
    if method != "refined":
        raise ValueError(f"checkpoint is for method 'refined', not {method!r}.")
    if not (random_state is None or isinstance(random_state, Integral)):
        raise TypeError(
            "With a checkpoint random_state must be None or a whole number: a resumed fit cannot "
            "restore the first state of a generator."
        )


def _check_integer(name: str, value: Any, allowed: str) -> None:
    # bool is an Integral in Python; n_components=True is a mistake.
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be {allowed}, not {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, not {value}.")


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r}.")
    if not 0 < float(value) < 1:
        raise ValueError(f"{name} must lie between 0 and 1, not {value}.")


def _check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; not {value!r}.")


def _check_paper_options(options: Any) -> None:
    if options is None:
        return
    if not isinstance(options, Mapping):
        raise TypeError(f"paper_options must be None or a dict, not {options!r}.")
    for name, value in options.items():
        if name not in _PAPER_OPTIONS:
            raise ValueError(
                f"paper_options has no {name!r}; it takes {', '.join(_PAPER_OPTIONS)}."
            )
        if isinstance(value, bool) or not isinstance(value, _PAPER_OPTIONS[name]):
            raise TypeError(f"paper_options[{name!r}] has the wrong type: {value!r}.")
    if "k" in options:
        _check_integer("paper_options['k']", options["k"], "a whole number")
    if "epsilon" in options:
        _check_number("paper_options['epsilon']", options["epsilon"])
    if "switch_back" in options:
        _check_choice("switch_back", options["switch_back"], ("steps", "correlation"))
