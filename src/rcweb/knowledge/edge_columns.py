"""Find the columns of regulator, target and effect in a table of edges; parse effects."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rcweb.engine.types import Array
from rcweb.tables.finding import some


@dataclass(frozen=True)
class Role:
    """A column to find.

    argument : what names it in Python; on the command line ``--argument-column``
    titles : those in use (RegulonDB, pymodulon, decoupler, OmniPath, ...), in lower case without
        punctuation. Those of one line rank equal: two of them in a table are ambiguous
    """

    argument: str
    meaning: str
    titles: tuple[tuple[str, ...], ...]

    @property
    def advice(self) -> str:
        """How a user names the column."""
        return f"name it with {self.argument}=, on the command line --{self.argument}-column"


SOURCE_COLUMN = Role(
    "source",
    "regulator",
    (
        ("regulator", "source", "tf"),
        ("regulatorname", "regulatorsymbol", "tfname", "tfsymbol", "transcriptionfactor"),
        ("regulatorid", "regulatorgene", "regulatorlocustag", "sourceid", "tfid", "tfgene"),
    ),
)
TARGET_COLUMN = Role(
    "target",
    "target",
    (
        ("target", "geneid", "locustag"),
        ("targetid", "targetgene", "targetgeneid", "targetlocustag", "gene", "locus"),
        ("genename", "genesymbol", "targetname", "targetsymbol", "symbol"),
    ),
)
WEIGHT = Role(
    "weight",
    "effect",
    (("effect", "sign", "weight", "mor", "function", "regulation"), ("confidence",)),
)

# Word stems, since databases write activator, activation, activates, activated by, ...
_POSITIVE = re.compile(r"\+|(.*\b)?(activ|induc|stimul|positiv|up).*")
_NEGATIVE = re.compile(r"-|(.*\b)?(repress|inhib|negativ|down).*")


def find_column(titles: Sequence[str], role: Role) -> str | None:
    """The column of `role`, ignoring case and punctuation; None if there is none.

    Raises ValueError if two columns match equally well.
    """
    # Better titles first; an ambiguity among worse ones does not matter then.
    for rank in role.titles:
        found = [title for title in titles if _bare(title) in rank]
        if len(found) > 1:
            raise ValueError(
                f"{' and '.join(map(repr, found))} may both be the {role.meaning}: {role.advice}."
            )
        if found:
            return found[0]
    return None


def need_column(titles: Sequence[str], role: Role) -> str:
    """The column of `role`; ValueError if there is none."""
    found = find_column(titles, role)
    if found is None:
        usual = ", ".join(role.titles[0])
        raise ValueError(
            f"no column is titled as the {role.meaning} usually is ({usual}, ...); "
            f"its columns are {some(titles, 20)}: {role.advice}."
        )
    return found


def effect_weights(effects: pd.Series) -> Array:
    """One number per edge: the number itself, or the sign of a word; NaN if the word has no sign.

    Words are ``+``, ``-`` and those that start like activation, induction, stimulation, positive,
    up, or repression, inhibition, negative, down. Words with both signs (``+-``, "activator or
    repressor") or none (``?``, "unknown") give NaN.
    """
    numbers = pd.to_numeric(effects, errors="coerce").to_numpy(dtype=np.float64)
    words = effects.astype(str).str.strip().str.lower()
    signs = {word: _sign(word) for word in words.unique()}
    return np.where(np.isfinite(numbers), numbers, words.map(signs).to_numpy(dtype=np.float64))


def _sign(word: str) -> float:
    positive, negative = _POSITIVE.fullmatch(word), _NEGATIVE.fullmatch(word)
    # Both or neither: the sign is not known.
    if bool(positive) == bool(negative):
        return np.nan
    return 1.0 if positive else -1.0


def _bare(title: str) -> str:
    # gene_id, Gene ID and geneId are one title.
    return re.sub(r"[^a-z0-9]", "", str(title).lower())
