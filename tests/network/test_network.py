"""The network and its exports: order, names, and that other tools read what was written."""

from __future__ import annotations

import io
import json
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcweb.knowledge.genesets import read_gmt
from rcweb.network import EDGE_COLUMNS, GRADES, Network, grades_of

NASTY = (
    "<script>alert(1)</script>",
    "a\"b'c&d",
    "tab\there",
    "nul\0here",
    "\ud800lone",
    " ",
    "µ-ärk",
)


def small() -> Network:
    """Two regulators over three targets; rcweb1 has the surest edge, "c" no edge."""
    weights = np.array([[0.5, -2.0, 0.0], [3.0, 0.0, 0.0]])
    return Network(
        weights=weights,
        probability=np.array([[0.6, 0.9, 0.1], [1.0, 0.0, 0.0]]),
        score=np.array([[1.0, -4.0, 0.0], [9.0, 0.0, 0.0]]),
        regulators=("rcweb0", "rcweb1"),
        targets=("a", "b", "c"),
    )


def named(regulators: tuple[str, ...], targets: tuple[str, ...]) -> Network:
    """Every edge there, weights all different."""
    shape = (len(regulators), len(targets))
    weights = np.arange(1.0, 1 + np.prod(shape)).reshape(shape) / 7
    return Network(weights, np.full(shape, 0.5), weights, regulators, targets)


def test_edges_are_the_nonzero_weights_surest_first():
    """The table the whole product is judged by: which rows, which order, which columns."""
    edges = small().edges()
    assert tuple(edges.columns) == EDGE_COLUMNS
    assert edges[["regulator", "target"]].to_numpy().tolist() == [
        ["rcweb1", "a"],
        ["rcweb0", "b"],
        ["rcweb0", "a"],
    ]
    assert edges["score"].tolist() == [9.0, -4.0, 1.0]
    assert small().edges(min_probability=0.7)["target"].tolist() == ["a", "b"]


def test_equal_scores_keep_the_order_of_names():
    """A tie must not be broken differently on another machine."""
    network = Network(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 2)), ("r", "s"), ("a", "b"))
    assert network.edges()[["regulator", "target"]].to_numpy().tolist() == [
        ["r", "a"],
        ["r", "b"],
        ["s", "a"],
        ["s", "b"],
    ]


def test_target_sets_and_renaming():
    """Sets are in the order of confidence; renaming changes names and nothing else."""
    network = small().rename({"rcweb1": "lexA"})
    assert network.target_sets() == {"rcweb0": ["b", "a"], "lexA": ["a"]}
    np.testing.assert_array_equal(network.weights, small().weights)
    with pytest.raises(ValueError, match="nobody"):
        small().rename({"nobody": "x"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"regulators": ("r",)}, "row per regulator"),
        ({"regulators": ("r", "r")}, "'r' occurs twice"),
        ({"targets": ("a", "b", "a")}, "'a' occurs twice"),
        ({"score": np.full((2, 3), np.nan)}, "score must be finite"),
        ({"probability": np.full((2, 3), 1.5)}, "1.5"),
    ],
)
def test_refuses_what_is_not_a_network(change, message):
    """Checked once here, so nothing downstream has to."""
    fields = {k: getattr(small(), k) for k in ("weights", "probability", "score")}
    fields |= {"regulators": small().regulators, "targets": small().targets} | change
    with pytest.raises(ValueError, match=message):
        Network(**fields)


def test_graphml_opens_in_networkx_with_every_number():
    """The round trip of issue E; targets without edges are left out, regulators never."""
    nx = pytest.importorskip("networkx")
    network = small()
    graph = nx.read_graphml(io.BytesIO(network.to_graphml().encode()))
    assert graph.is_directed()
    assert set(graph.nodes) == {"rcweb0", "rcweb1", "a", "b"}
    assert {n: d["kind"] for n, d in graph.nodes(data=True)}["rcweb0"] == "regulator"
    for row in network.edges().itertuples():
        data = graph.edges[row.regulator, row.target]
        assert (data["weight"], data["probability"], data["score"]) == row[3:6]


def test_cytoscape_json_opens_in_networkx_and_has_cytoscapes_fields():
    """By schema for Cytoscape, by reading for networkx."""
    nx = pytest.importorskip("networkx")
    document = json.loads(small().to_cytoscape())
    assert document["format_version"] == "1.0"
    assert all(node["data"]["shared_name"] for node in document["elements"]["nodes"])
    graph = nx.cytoscape_graph(document)
    assert graph.edges["rcweb0", "b"]["weight"] == -2.0
    assert graph.edges["rcweb0", "b"]["interaction"] == "represses"


def test_a_regulator_named_like_its_gene_stays_a_second_node():
    """lexA the factor and lexA the gene are two things."""
    nx = pytest.importorskip("networkx")
    text = named(("lexA", "lexA (regulator)"), ("lexA", "recA")).to_graphml()
    graph = nx.read_graphml(io.BytesIO(text.encode()))
    assert graph.number_of_nodes() == 4
    assert graph.number_of_edges() == 4
    kinds = nx.get_node_attributes(graph, "kind")
    assert sorted(kinds.values()) == ["regulator", "regulator", "target", "target"]


@pytest.mark.parametrize("name", NASTY)
def test_nasty_names_stay_text_everywhere(name):
    """A gene called <script> is a gene; control characters must not break a file."""
    network = named(("r",), (name, "other"))
    root = ET.fromstring(network.to_graphml().encode())
    assert len(root.findall(".//{*}edge")) == 2
    assert json.loads(network.to_cytoscape())["elements"]["edges"][0]["data"]["source"] == "r"
    assert network.to_gmt().count("\n") == 1
    assert "<script>" not in network._repr_html_()


@given(
    st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True),
    st.lists(st.text(max_size=4), min_size=1, max_size=5, unique=True),
)
@settings(deadline=None)
def test_graphml_of_any_names_parses_with_all_nodes_and_edges(regulators, targets):
    """Whatever the names, even equal ones on both sides, no node or edge is merged or lost."""
    root = ET.fromstring(named(tuple(regulators), tuple(targets)).to_graphml().encode())
    ids = [node.get("id") for node in root.findall(".//{*}node")]
    assert len(set(ids)) == len(ids) == len(regulators) + len(targets)
    assert len(root.findall(".//{*}edge")) == len(regulators) * len(targets)


def test_gmt_is_read_back_by_the_reader_of_gene_sets(tmp_path):
    """What fit writes, annotate can read."""
    path = small().save(tmp_path / "network.gmt")
    sets = read_gmt(path)
    assert sets.names == ("rcweb0", "rcweb1")
    assert sets.members == (("b", "a"), ("a",))


def test_tsv_reads_back_to_the_same_bits(tmp_path):
    """Numbers are written in a form that loses nothing."""
    network = replace(named(("r", "s"), ("a", "b", "c")), grades=("found", "certified"))
    path = network.save(tmp_path / "network.tsv")
    numbers = dict.fromkeys(["weight", "probability"], float)
    table = pd.read_csv(path, sep="\t", converters=numbers)
    assert list(table.columns) == [
        *("regulator", "target", "weight", "probability"),
        *("regulator_name", "target_name", "grade"),
    ]
    expected = network.edges().drop(columns="score")
    pd.testing.assert_frame_equal(table.astype(expected.dtypes), expected, check_exact=True)


@pytest.mark.parametrize("ending", ["graphml", "cyjs", "gmt", "tsv"])
def test_same_network_same_bytes(tmp_path, ending):
    """Determinism of every export."""
    first = small().save(tmp_path / f"one.{ending}").read_bytes()
    assert first == small().save(tmp_path / f"two.{ending}").read_bytes()


def test_unknown_ending_is_refused(tmp_path):
    """A way out is named and no file is left."""
    with pytest.raises(ValueError, match=r"\.graphml"):
        small().save(tmp_path / "network.doc")
    assert not list(tmp_path.iterdir())


def test_html_shows_counts_and_the_surest_targets():
    """A notebook should say something one wants to know."""
    html = small()._repr_html_()
    assert "2 regulators, 2 of 3 targets regulated, 3 edges" in html
    assert "b, a" in html


def test_every_format_holds_ids_and_names():
    """Names are shown, ids join; an unnamed regulator's name is its id."""
    network = replace(small(), regulator_names=("fur", ""), target_names=("araC", "b", "c <&> d"))
    table = pd.read_csv(io.StringIO(network.to_tsv()), sep="\t")
    assert table[["regulator", "regulator_name", "target", "target_name"]].to_numpy().tolist() == [
        ["rcweb1", "rcweb1", "a", "araC"],
        ["rcweb0", "fur", "b", "b"],
        ["rcweb0", "fur", "a", "araC"],
    ]
    root = ET.fromstring(network.to_graphml().encode())
    nodes = [(node.get("id"), *(data.text for data in node)) for node in root.findall(".//{*}node")]
    assert ("rcweb0", "fur", "rcweb0", "regulator") in nodes
    assert ("a", "araC", "a", "target") in nodes
    cytoscape = json.loads(network.to_cytoscape())["elements"]["nodes"]
    shown = {node["data"]["identifier"]: node["data"]["name"] for node in cytoscape}
    assert shown == {"rcweb0": "fur", "rcweb1": "rcweb1", "a": "araC", "b": "b"}
    assert network.to_gmt() == "fur\trcweb0, 2 targets\tb\ta\nrcweb1\trcweb1, 1 targets\ta\n"
    assert network.regulator_labels == ("fur (rcweb0)", "rcweb1")
    assert "fur (rcweb0)" in network._repr_html_()
    assert network.rename({"rcweb1": "lexA"}).regulator_names == ("fur", "lexA")


def test_a_shared_name_stays_two_sets():
    """Readers of GMT files take two lines of one name for one set."""
    network = replace(small(), regulator_names=("fur", "fur"))
    assert [line.split("\t")[0] for line in network.to_gmt().splitlines()] == [
        "fur (rcweb0)",
        "fur (rcweb1)",
    ]


def test_a_regulator_is_found_by_name_or_id():
    """An ambiguous name is an error with the ids, an unknown one with what is near."""
    network = replace(small(), regulator_names=("sigB", "lexA"))
    assert (network.position("sigB"), network.position("rcweb1")) == (0, 1)
    with pytest.raises(ValueError, match="'SigB'; some are sigB"):
        network.position("SigB")
    with pytest.raises(
        ValueError, match="2 regulators are called 'fur'; say which: rcweb0, rcweb1"
    ):
        replace(small(), regulator_names=("fur", "fur")).position("fur")
    with pytest.raises(ValueError, match="regulator_names must hold 2 names"):
        replace(small(), regulator_names=("fur",))


def test_edges_carry_the_grade_of_their_regulator():
    """One word per edge, empty where nothing is known; another word or number is an error."""
    edges = replace(small(), grades=("found", "certified")).edges()
    assert edges["grade"].tolist() == ["certified", "found", "found"]
    assert set(small().edges()["grade"]) == {""}
    with pytest.raises(ValueError, match="certified, found, unconfirmed; not 'good'"):
        replace(small(), grades=("good", ""))
    with pytest.raises(ValueError, match="2 words, one per regulator; not 1"):
        replace(small(), grades=("found",))


def test_grades_are_read_from_the_diagnosis():
    """Certified wins over found; a method without them gives none."""
    table = pd.DataFrame({"certified": [True, False, False], "found": [True, True, False]})
    assert grades_of(table) == GRADES
    assert grades_of(table[["found"]]) == grades_of(None) == ()
