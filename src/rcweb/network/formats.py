"""A network as text that other tools open. Same network, same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import pandas as pd

# XML 1.0 has no way to write these, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_EDGE_NUMBERS = ("weight", "probability", "score")


def node_ids(regulators: Sequence[str], targets: Iterable[str]) -> tuple[dict[str, str], ...]:
    """Ids of regulators and of targets, unique over both: ``({regulator: id}, {target: id})``.

    An id is the name itself where it can be. A target keeps its name; a regulator named as a target
    is (a transcription factor and its gene) gets " (regulator)" after it. Characters that XML
    cannot hold become U+FFFD.
    """
    taken: set[str] = set()

    def claim(name: str, suffix: str) -> str:
        plain = _NOT_XML.sub("\ufffd", name)
        candidate = plain if plain.strip() else f"{plain}{suffix}"
        n = 1
        while candidate in taken:
            candidate = f"{plain}{suffix}" + (f" {n}" if n > 1 else "")
            n += 1
        taken.add(candidate)
        return candidate

    of_targets = {name: claim(name, " (target)") for name in targets}
    of_regulators = {name: claim(name, " (regulator)") for name in regulators}
    return of_regulators, of_targets


def graphml(regulators: Sequence[str], edges: pd.DataFrame) -> str:
    """GraphML 1.0: directed; nodes have name and kind, edges weight, probability, score."""
    of_regulators, of_targets = node_ids(regulators, _in_order(edges["target"]))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
        ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">',
        '<key id="name" for="node" attr.name="name" attr.type="string"/>',
        '<key id="kind" for="node" attr.name="kind" attr.type="string"/>',
        *(
            f'<key id="{key}" for="edge" attr.name="{key}" attr.type="double"/>'
            for key in _EDGE_NUMBERS
        ),
        '<graph id="rcweb" edgedefault="directed">',
    ]
    for kind, ids in (("regulator", of_regulators), ("target", of_targets)):
        for name, identity in ids.items():
            text = escape(_NOT_XML.sub("\ufffd", name), {"\r": "&#13;"})
            lines.append(
                f'<node id={_attribute(identity)}><data key="name">{text}</data>'
                f'<data key="kind">{kind}</data></node>'
            )
    for regulator, target, *numbers in edges.itertuples(index=False, name=None):
        data = "".join(
            f'<data key="{key}">{value!r}</data>' for key, value in zip(_EDGE_NUMBERS, numbers)
        )
        source, sink = _attribute(of_regulators[regulator]), _attribute(of_targets[target])
        lines.append(f"<edge source={source} target={sink}>{data}</edge>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _attribute(text: str) -> str:
    return quoteattr(text, {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"})


def cytoscape_json(regulators: Sequence[str], edges: pd.DataFrame) -> str:
    """Cytoscape JSON 1.0; ``value`` is for networkx's reader, ``shared_name`` for Cytoscape."""
    of_regulators, of_targets = node_ids(regulators, _in_order(edges["target"]))
    nodes = [
        {"data": {"id": i, "value": i, "name": name, "shared_name": name, "kind": kind}}
        for kind, ids in (("regulator", of_regulators), ("target", of_targets))
        for name, i in ids.items()
    ]
    links = [
        {
            "data": {
                "id": f"e{n}",
                "source": of_regulators[regulator],
                "target": of_targets[target],
                "interaction": "activates" if numbers[0] > 0 else "represses",
                **dict(zip(_EDGE_NUMBERS, numbers)),
            }
        }
        for n, (regulator, target, *numbers) in enumerate(edges.itertuples(index=False, name=None))
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


def gmt(sets: Mapping[str, Sequence[str]]) -> str:
    """One line per set that is not empty: name, number of targets, targets. Tabs become spaces."""
    lines = [
        "\t".join([one_line(name), f"{len(members)} targets", *map(one_line, members)])
        for name, members in sets.items()
        if members
    ]
    return "".join(line + "\n" for line in lines)


def one_line(name: str) -> str:
    """The name without what would end a field or a line."""
    return _BREAKS.sub(" ", name)


def tsv(table: pd.DataFrame, *, index: bool = False) -> str:
    """Tab-separated text; numbers in the shortest form that reads back to the same bits."""
    return table.to_csv(sep="\t", index=index, lineterminator="\n")


def _in_order(names: pd.Series) -> list[str]:
    """Each name once, in the order of first appearance."""
    return list(dict.fromkeys(names))
