"""Export formats for other tools. The same network gives the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

# XML 1.0 has no way to write these, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_EDGE_NUMBERS = ("weight", "probability", "score")


def node_ids(regulators: Iterable[str], targets: Iterable[str]) -> tuple[dict[str, str], ...]:
    """Ids of regulators and of targets, unique over both: ``({regulator: id}, {target: id})``.

    An id is the name itself where it can be. A target keeps its name; a regulator named as a target
    is (a transcription factor and its gene) gets " (regulator)" after it. Characters that XML
    cannot hold become U+FFFD.
    """
    taken: set[str] = set()

    def claim(name: str, suffix: str) -> str:
        plain = _NOT_XML.sub("\ufffd", name)
        # A blank id cannot be seen in other tools.
        candidate = plain if plain.strip() else f"{plain}{suffix}"
        n = 1
        # Ends: every turn tries another number, and finitely many names are taken.
        while candidate in taken:
            candidate = f"{plain}{suffix}" + (f" {n}" if n > 1 else "")
            n += 1
        taken.add(candidate)
        return candidate

    # Targets first: they keep their names, which users look up in other tools.
    of_targets = {name: claim(name, " (target)") for name in targets}
    of_regulators = {name: claim(name, " (regulator)") for name in regulators}
    return of_regulators, of_targets


def graphml(regulators: Mapping[str, str], edges: pd.DataFrame) -> str:
    """GraphML 1.0: directed; nodes have name, identifier, kind; edges weight, probability, score.

    regulators : ``{id: name}``, also of those without edges.
    """
    targets = _names_of_targets(edges)
    of_regulators, of_targets = node_ids(regulators, targets)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
        ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">',
        '<key id="name" for="node" attr.name="name" attr.type="string"/>',
        '<key id="identifier" for="node" attr.name="identifier" attr.type="string"/>',
        '<key id="kind" for="node" attr.name="kind" attr.type="string"/>',
        *(
            f'<key id="{key}" for="edge" attr.name="{key}" attr.type="double"/>'
            for key in _EDGE_NUMBERS
        ),
        '<graph id="rcweb" edgedefault="directed">',
    ]
    for kind, ids, names in (
        ("regulator", of_regulators, regulators),
        ("target", of_targets, targets),
    ):
        for identifier, node in ids.items():
            lines.append(
                f'<node id={_attribute(node)}><data key="name">{_text(names[identifier])}</data>'
                f'<data key="identifier">{_text(identifier)}</data>'
                f'<data key="kind">{kind}</data></node>'
            )
    for regulator, target, *numbers in _numbered(edges):
        data = "".join(
            f'<data key="{key}">{value!r}</data>' for key, value in zip(_EDGE_NUMBERS, numbers)
        )
        source, sink = _attribute(of_regulators[regulator]), _attribute(of_targets[target])
        lines.append(f"<edge source={source} target={sink}>{data}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _text(text: str) -> str:
    # XML parsers turn a bare carriage return into a line feed.
    return escape(_NOT_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _attribute(text: str) -> str:
    # XML parsers turn line breaks and tabs in attributes into spaces unless they are escaped.
    return quoteattr(text, {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def cytoscape_json(regulators: Mapping[str, str], edges: pd.DataFrame) -> str:
    """Cytoscape JSON 1.0; ``value`` is for networkx's reader, ``shared_name`` for Cytoscape.

    regulators : ``{id: name}``, also of those without edges.
    """
    targets = _names_of_targets(edges)
    of_regulators, of_targets = node_ids(regulators, targets)
    nodes = [
        {
            "data": {
                "id": node,
                "value": node,
                "name": names[identifier],
                "shared_name": names[identifier],
                "identifier": identifier,
                "kind": kind,
            }
        }
        for kind, ids, names in (
            ("regulator", of_regulators, regulators),
            ("target", of_targets, targets),
        )
        for identifier, node in ids.items()
    ]
    links = [
        {
            "data": {
                "id": f"e{n}",
                "source": of_regulators[regulator],
                "target": of_targets[target],
                # Cytoscape's standard column for the kind of an edge.
                "interaction": "activates" if numbers[0] > 0 else "represses",
                **dict(zip(_EDGE_NUMBERS, numbers)),
            }
        }
        for n, (regulator, target, *numbers) in enumerate(_numbered(edges))
    ]
    document = {
        "format_version": "1.0",
        "generated_by": "rcweb",
        "target_cytoscapejs_version": "~2.1",
        "directed": True,
        "multigraph": False,
        "data": {"name": "rcweb", "shared_name": "rcweb"},
        "elements": {"nodes": nodes, "edges": links},
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"


def gmt(sets: Iterable[tuple[str, str, Sequence[str]]]) -> str:
    """One line per set of (name, id, targets) that is not empty: name, id and number of targets,
    targets. Tabs become spaces."""
    lines = [
        "\t".join(map(one_line, [name, f"{identifier}, {len(members)} targets", *members]))
        for name, identifier, members in sets
        if members
    ]
    return "".join(line + "\n" for line in lines)


def one_line(name: str) -> str:
    """The name with tabs and line breaks replaced by spaces."""
    return _BREAKS.sub(" ", name)


def tsv(table: pd.DataFrame, *, index: bool = False) -> str:
    """Tab-separated text; numbers in the shortest form that reads back to the same bits."""
    return table.to_csv(sep="\t", index=index, lineterminator="\n")


def _names_of_targets(edges: pd.DataFrame) -> dict[str, str]:
    """``{id: name}``, in the order of first appearance."""
    return dict(zip(edges["target"], edges["target_name"]))


def _numbered(edges: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Regulator, target and numbers of every edge."""
    return edges[["regulator", "target", *_EDGE_NUMBERS]].itertuples(index=False, name=None)
