"""Splits of known lists: nothing shown is hidden, no group divided, conditions as they say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcweb.lab.benchmark.prior_lists import (
    ECOLI,
    MTB,
    SAUR,
    YEAST,
    KnownLists,
    operons,
    own_columns,
    read_known,
    same_strand_runs,
)
from rcweb.lab.benchmark.prior_splits import CONDITIONS, FALSE, half_hidden, judged, make_split

N = 200


def lists(seed: int, n_lists: int = 6, signed: bool = False) -> KnownLists:
    rng = np.random.default_rng(seed)
    members = [np.sort(rng.choice(N, rng.integers(10, 40), replace=False)) for _ in range(n_lists)]
    signs = tuple(rng.choice([-1.0, 0.0, 1.0], len(m)) for m in members) if signed else None
    return KnownLists(tuple(f"r{k}" for k in range(n_lists)), tuple(members), signs)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 1000),
    condition=st.sampled_from(CONDITIONS),
    n_groups=st.sampled_from([None, 8, 60, 200]),
)
def test_shown_and_hidden(seed: int, condition: str, n_groups: int | None) -> None:
    """Disjoint; without false ones together a known list; groups stay whole; everything sorted and
    in the table; what counts for the score is all but the shown."""
    known = lists(seed, signed="signs" in condition)
    groups = None
    if n_groups is not None:
        groups = np.random.default_rng(seed).integers(n_groups, size=N)
    split = make_split(known, N, condition, seed, groups)
    assert len(split.shown) == len(split.hidden) == len(split.false) == len(split.source)
    for k, source in enumerate(split.source):
        shown, hidden = split.shown[k], split.hidden[k]
        assert not set(shown) & set(hidden)
        assert len(set(shown)) == len(shown) >= 3
        assert 0 <= shown.min() <= shown.max() < N
        if source >= 0:
            members = known.members[source]
            true = np.setdiff1d(shown, split.false[k])
            np.testing.assert_array_equal(np.union1d(true, hidden), members)
            assert not set(split.false[k]) & set(members)
            if groups is not None:
                assert not set(groups[true]) & set(groups[hidden])
        if split.signs is not None:
            assert len(split.signs[k]) == len(shown)
    rows, counts, hidden = judged(split, N)
    for row, k in enumerate(rows):
        assert not counts[row, split.shown[k]].any()
        assert counts[row].sum() == N - len(split.shown[k])
        np.testing.assert_array_equal(np.flatnonzero(hidden[row]), split.hidden[k])
        assert counts[row][hidden[row]].all()


def test_half_is_hidden_and_methods_share_the_split() -> None:
    """Floor of the half; one seed is one split under every condition, another seed another."""
    known = lists(0)
    clean = make_split(known, N, "clean", 3)
    assert [len(h) for h in clean.hidden] == [len(m) // 2 for m in known.members]
    for condition in (*FALSE, "mixed"):
        other = make_split(known, N, condition, 3)
        for mine, theirs in zip(clean.hidden, other.hidden):
            np.testing.assert_array_equal(mine, theirs)
    again, another = (make_split(known, N, "clean", seed) for seed in (3, 4))
    assert all(map(np.array_equal, clean.hidden, again.hidden))
    assert not any(map(np.array_equal, clean.hidden, another.hidden))


@pytest.mark.parametrize(("condition", "share"), FALSE.items())
def test_share_of_false_members(condition: str, share: float) -> None:
    split = make_split(lists(1), N, condition, 0)
    for shown, false in zip(split.shown, split.false):
        assert len(false) / len(shown) == pytest.approx(share, abs=0.5 / len(shown) + 1e-9)


def test_random_lists_have_the_sizes_of_the_shown() -> None:
    """Alone and after the true ones; with groups they are made of whole groups but the last."""
    known = lists(2)
    clean, alone, mixed = (make_split(known, N, c, 0) for c in ("clean", "random", "mixed"))
    sizes = [len(shown) for shown in clean.shown]
    assert [len(shown) for shown in alone.shown] == sizes
    assert alone.random.all()
    assert [len(shown) for shown in mixed.shown] == 2 * sizes
    np.testing.assert_array_equal(mixed.random, np.repeat([False, True], len(sizes)))
    groups = np.arange(N) // 5
    for shown in make_split(known, N, "random", 0, groups).shown:
        divided = np.bincount(groups[shown], minlength=40)
        assert ((divided > 0) & (divided < 5)).sum() <= 1


def test_permuted_lists_keep_their_overlaps() -> None:
    """One permutation for all lists: sizes and overlaps stay, and none of them counts as true."""
    members = (np.arange(20), np.arange(10, 30))
    split = make_split(KnownLists(("a", "b"), members), N, "permuted", 0)
    whole = [set(s) | set(h) for s, h in zip(split.shown, split.hidden)]
    assert [len(w) for w in whole] == [20, 20]
    assert len(whole[0] & whole[1]) == 10
    assert split.random.all()
    assert whole[0] != set(members[0])


def test_shuffled_signs_are_the_same_signs() -> None:
    known = lists(3, signed=True)
    right, wrong = (make_split(known, N, c, 0) for c in ("signs", "shuffled signs"))
    assert right.signs is not None
    assert wrong.signs is not None
    first, second = np.concatenate(right.signs), np.concatenate(wrong.signs)
    np.testing.assert_array_equal(np.sort(first), np.sort(second))
    assert (first != second).any()
    assert all(map(np.array_equal, right.shown, wrong.shown))
    with pytest.raises(ValueError, match="no signs"):
        make_split(lists(3), N, "shuffled signs", 0)


def test_a_list_in_one_group_cannot_be_split() -> None:
    """It is left out and counted; two groups can be split."""
    members = np.arange(10)
    rng = np.random.default_rng(0)
    assert half_hidden(members, np.zeros(10, int), rng) is None
    two = half_hidden(members, np.repeat([0, 1], 5), rng)
    assert two is not None
    assert two.sum() == 5
    known = KnownLists(("one", "two"), (members, np.arange(20, 40)))
    groups = np.where(np.arange(N) < 10, 0, np.arange(N))
    split = make_split(known, N, "clean", 0, groups)
    assert (list(split.source), split.n_single) == ([1], 1)
    with pytest.raises(ValueError, match="condition must be one of clean"):
        make_split(known, N, "dirty", 0)


def test_runs_of_one_strand() -> None:
    """c is the reverse strand; an added gene joins the run before it; other names stand alone."""
    names = [
        "Rv0003c",
        "Rv0001",
        "Rv0002",
        "Rv0002A",
        "Rv0004c",
        "Rv0004a",
        "Rv0005",
        "MTB1",
        "MTB2",
    ]
    groups = dict(zip(names, same_strand_runs(names)))
    assert groups["Rv0001"] == groups["Rv0002"] == groups["Rv0002A"]
    assert groups["Rv0003c"] == groups["Rv0004c"] == groups["Rv0004a"]
    assert len({groups[n] for n in ("Rv0001", "Rv0003c", "Rv0005", "MTB1", "MTB2")}) == 5


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Two organisms with eleven genes of the same name; E. coli's are called b0 to b15."""
    for folder in ("ecoli_precise", "saur_imodulon"):
        (tmp_path / folder).mkdir()
    ours = pd.DataFrame({"gene_name": [f"g{n}" for n in range(16)]}, [f"b{n}" for n in range(16)])
    ours["operon"] = ["op1", "op1", "op2", "op2", *[None] * 12]
    ours.to_csv(tmp_path / "ecoli_precise/genes.tsv.gz", sep="\t")
    theirs = pd.DataFrame({"gene_name": [f"G{n}" for n in range(11)]}, [f"s{n}" for n in range(11)])
    theirs.assign(operon=None).to_csv(tmp_path / "saur_imodulon/gene_table.tsv.gz", sep="\t")
    genes = "\t".join(f"b{n}" for n in range(12))
    (tmp_path / "ecoli_precise/regulons.gmt").write_text(f"G3\t\t{genes}\nsmall\t\tb1\tb2\n")
    genes = "\t".join(f"s{n}" for n in range(11))
    (tmp_path / "saur_imodulon/regulons.gmt").write_text(f"other\t\t{genes}\n")
    effects = pd.DataFrame({"regulator": "G3", "target": ours.index[:12], "effect": ["+", "-"] * 6})
    effects.to_csv(tmp_path / "ecoli_precise/trn_regulondb.tsv.gz", sep="\t", index=False)
    monkeypatch.setenv("RCWEB_DATA", str(tmp_path))
    return [str(gene) for gene in ours.index]


def test_lists_groups_and_regulators_from_files(files: list[str]) -> None:
    sets = "ecoli_precise/regulons.gmt"
    own = read_known(ECOLI, sets, files, "clean")
    assert own.names == ("G3",)
    np.testing.assert_array_equal(own.members[0], np.arange(12))
    assert own.signs is None
    signed = read_known(ECOLI, sets, files, "signs")
    assert signed.signs is not None
    np.testing.assert_array_equal(signed.signs[0], [1, -1] * 6)
    other = read_known(ECOLI, sets, files, "other organism")
    assert other.names == ("other",)
    np.testing.assert_array_equal(other.members[0], np.arange(11))
    groups = operons(ECOLI, files)
    assert groups is not None
    assert groups[0] == groups[1] != groups[2] == groups[3]
    assert len(set(groups)) == 14
    np.testing.assert_array_equal(own_columns(ECOLI, ["G3", "small"], files), [3, -1])
    np.testing.assert_array_equal(own_columns(YEAST, ["G3"], files), [-1])
    assert operons(YEAST, files) is None


@pytest.mark.data
def test_operons_of_the_real_tables() -> None:
    """Known facts: thrLABC; runs of one strand in M. tuberculosis hold its DosR operon
    Rv3133c-Rv3134c; most genes of S. aureus have a group of a few."""
    from rcweb.lab.datasets.files import data_folder

    folder = data_folder()
    if folder is None:
        pytest.skip("RCWEB_DATA is not set")
    for table, together, apart in (
        (ECOLI, ("b0002", "b0003"), ("b0002", "b0008")),
        (MTB, ("Rv3133c", "Rv3134c"), ("Rv0001", "Rv3134c")),
    ):
        names = [str(name) for name in pd.read_parquet(folder / table).columns]
        groups = operons(table, names)
        assert groups is not None
        of = dict(zip(names, groups))
        assert of[together[0]] == of[together[1]]
        assert of[apart[0]] != of[apart[1]]
    names = [str(name) for name in pd.read_parquet(folder / SAUR).columns]
    sizes = np.bincount(np.asarray(operons(SAUR, names)))
    assert 1 < np.average(sizes, weights=sizes) < 10
