"""Knowledge stored beside a result, so that `annotate` changes only what it is given."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcweb.cli.knowledge import Knowledge

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.knowledge import GeneSets
    from rcweb.tables import Match

KNOWLEDGE_FILE = "knowledge.json.gz"
KNOWLEDGE_FORMAT = "rcweb-knowledge"
KNOWLEDGE_VERSION = 1
MOST_KEPT = 20_000  # lines of a sample sheet


def knowledge_to_bytes(knowledge: Knowledge) -> bytes:
    """The content of the file; equal knowledge gives equal bytes."""
    document = {
        "format": KNOWLEDGE_FORMAT,
        "version": KNOWLEDGE_VERSION,
        "known": _plain_sets(knowledge.known),
        "terms": _plain_sets(knowledge.terms),
        "measured": _plain_frame(knowledge.measured),
        "sheet": _plain_sheet(knowledge.sheet),
        "groups": knowledge.groups,
        "reference": knowledge.reference,
        "labels": knowledge.labels,
        "gene_table": _plain_texts(knowledge.gene_table),
        "gene_explained": _plain_series(knowledge.gene_explained),
        "link": knowledge.link,
        "title": knowledge.title,
    }
    text = json.dumps(document, allow_nan=False)
    # mtime=0: the time of writing would change the bytes.
    return gzip.compress(text.encode("utf-8", errors="surrogatepass"), mtime=0)


def read_knowledge(folder: Path, n_samples: int) -> Knowledge:
    """What is kept in a result folder; nothing, if an earlier version wrote it.

    Raises ValueError for a file that rcweb did not write or of which something is wrong.
    """
    from rcweb.tables.streams import open_unpacked

    path = folder / KNOWLEDGE_FILE
    if not path.is_file():
        return Knowledge()
    # Limited by the free memory: a small gzip file may unpack to gigabytes.
    with open_unpacked(path) as stream:
        content = stream.read()
    try:
        document = json.loads(content)
        if document["format"] != KNOWLEDGE_FORMAT or document["version"] < 1:
            raise ValueError("it has another format")
        newer = document["version"] > KNOWLEDGE_VERSION
        knowledge = None if newer else _knowledge(document, n_samples)
    # An edited file can fail in any of these ways.
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{KNOWLEDGE_FILE} was changed after rcweb wrote it ({error})") from None
    if knowledge is None:
        raise ValueError(
            f"{KNOWLEDGE_FILE} has format version {document['version']}, this rcweb reads up to "
            f"{KNOWLEDGE_VERSION}; a newer rcweb wrote it: pip install --upgrade rcweb"
        )
    return knowledge


def _knowledge(document: dict[str, Any], n_samples: int) -> Knowledge:
    groups, labels, title = (document[key] for key in ("groups", "labels", "title"))
    # Groups are stored in sample order; another length cannot be matched.
    if groups is not None and len(groups) != n_samples:
        raise ValueError(f"it has groups of {len(groups)} samples, there are {n_samples}")
    return Knowledge(
        known=_sets(document["known"]),
        terms=_sets(document["terms"]),
        measured=_frame(document["measured"]),
        groups=None if groups is None else tuple(map(str, groups)),
        labels=None if labels is None else {str(k): str(v) for k, v in labels.items()},
        title=None if title is None else str(title),
        # Earlier versions kept neither the sheet nor annotation of the variables.
        sheet=_texts(document.get("sheet")),
        reference=None if document.get("reference") is None else str(document["reference"]),
        gene_table=_texts(document.get("gene_table")),
        gene_explained=_series(document.get("gene_explained")),
        link=_link(document.get("link")),
    )


def updated(kept: Knowledge, given: Knowledge) -> Knowledge:
    """The stored knowledge, with everything `given` now replacing its kind."""
    new = {field.name: getattr(given, field.name) for field in fields(Knowledge)}
    return replace(kept, **{name: value for name, value in new.items() if value is not None})


def updated_inputs(
    kept: dict[str, dict[str, Any]], given: dict[str, dict[str, str]]
) -> dict[str, dict[str, Any]]:
    """The same for the record of files: "sets 1" replaces all earlier sets."""
    # Roles are numbered ("sets 1", "sets 2"); an option replaces all of its kind.
    renewed = {role.split()[0] for role in given}
    return {r: facts for r, facts in kept.items() if r.split()[0] not in renewed} | given


def updated_matches(record: dict[str, Any], given: Sequence[Match]) -> tuple[Match, ...]:
    """What was said of files that the record still names as inputs, then what is said now."""
    from rcweb.tables import InputCheck

    check = record.get("input_check")
    kept = InputCheck.from_plain(check).matches if check else ()
    inputs = {facts.get("file") for facts in record.get("inputs", {}).values()}
    new = {match.file for match in given}
    return (*(match for match in kept if match.file in inputs - new), *given)


def _plain_sets(sets: GeneSets | None) -> dict[str, Any] | None:
    if sets is None:
        return None
    names = ("names", "descriptions", "members", "weights")
    return {name: getattr(sets, name) for name in names}


def _sets(document: dict[str, Any] | None) -> GeneSets | None:
    from rcweb.knowledge import GeneSets

    if document is None:
        return None
    weights = document["weights"]
    return GeneSets(
        names=tuple(map(str, document["names"])),
        descriptions=tuple(map(str, document["descriptions"])),
        members=tuple(tuple(map(str, members)) for members in document["members"]),
        weights=None if weights is None else tuple(tuple(map(float, w)) for w in weights),
    )


def _plain_texts(table: pd.DataFrame | None) -> dict[str, Any] | None:
    if table is None:
        return None
    columns = {str(title): list(map(str, table[title])) for title in table.columns}
    return {"index": list(map(str, table.index)), "columns": columns}


def _plain_sheet(sheet: pd.DataFrame | None) -> dict[str, Any] | None:
    # A sheet of single cells would be larger than the result.
    if sheet is None or len(sheet) > MOST_KEPT:
        return None
    return _plain_texts(sheet.fillna(""))


def _texts(document: dict[str, Any] | None) -> pd.DataFrame | None:
    import pandas as pd

    if document is None:
        return None
    columns = {str(title): list(map(str, cells)) for title, cells in document["columns"].items()}
    return pd.DataFrame(columns, index=list(map(str, document["index"])), dtype=object)


def _link(template: str | None) -> str | None:
    if template is None:
        return None
    from rcweb.report.genes import checked_link

    # The folder may come from a stranger.
    return checked_link(str(template))


def _plain_series(shares: pd.Series | None) -> dict[str, Any] | None:
    return None if shares is None else _plain_frame(shares.to_frame())


def _series(document: dict[str, Any] | None) -> pd.Series | None:
    frame = _frame(document)
    return None if frame is None else frame.iloc[:, 0]


def _plain_frame(frame: pd.DataFrame | None) -> dict[str, Any] | None:
    from rcweb.storage.plain import plain

    if frame is None:
        return None
    return {
        "index": list(map(str, frame.index)),
        "columns": list(map(str, frame.columns)),
        "values": plain(frame.to_numpy(dtype=float)),
    }


def _frame(document: dict[str, Any] | None) -> pd.DataFrame | None:
    import pandas as pd

    from rcweb.storage.plain import from_plain

    if document is None:
        return None
    index, columns = (list(map(str, document[key])) for key in ("index", "columns"))
    return pd.DataFrame(from_plain(document["values"]), index, columns, dtype=float)
