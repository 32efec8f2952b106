"""Two networks side by side: the right relation, whatever the order, sign, scale and side."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from rcweb import RCweb
from rcweb.activity import compare
from rcweb.lab.simulate import simulate

N = 400
SWAPPED = {"split": "merged", "merged": "split", "lost": "new", "new": "lost"}
PAIRWISE = ["correlation", "activity_correlation", "sign", "overlap", "p", "q"]


def row(rng, *parts: tuple[int, int]) -> np.ndarray:
    """Random weights on the variables from `start` to `stop` of each part, zero elsewhere."""
    weights = np.zeros(N)
    for start, stop in parts:
        weights[start:stop] = rng.choice([-1, 1], stop - start) * rng.uniform(0.5, 2, stop - start)
    return weights


def frame(rows: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame.from_dict(rows, orient="index", columns=[f"g{n}" for n in range(N)])


@pytest.fixture
def planted() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every relation once: one kept, one split, two merged, one lost, one new, one empty."""
    rng = np.random.default_rng(0)
    kept, whole, merged = row(rng, (0, 30)), row(rng, (40, 100)), row(rng, (120, 180))
    half = np.arange(N) < 70
    other = np.arange(N) < 150
    a = {
        "kept": kept,
        "whole": whole,
        "left": merged * other,
        "right": merged * ~other,
        "gone": row(rng, (200, 240)),
        "empty": np.zeros(N),
    }
    b = {
        "fresh": row(rng, (300, 340)),
        "joint": -3 * merged,
        "second": whole * ~half,
        "first": 2 * whole * half,
        "same": -0.5 * kept,
    }
    return frame(a), frame(b)


def relations(table: pd.DataFrame) -> set[tuple]:
    return set(table[["a", "b", "relation"]].itertuples(index=False, name=None))


def test_every_relation_is_recognised(planted):
    found = compare(*planted)
    assert relations(found.table) == {
        ("kept", "same", "same"),
        ("whole", "first", "split"),
        ("whole", "second", "split"),
        ("left", "joint", "merged"),
        ("right", "joint", "merged"),
        ("gone", None, "lost"),
        (None, "fresh", "new"),
        ("empty", None, "untested"),
    }
    assert found.counts["split"] == {"A": 1, "B": 2}
    assert found.counts["merged"] == {"A": 2, "B": 1}
    text = str(found)
    assert "1 of the 6 regulators of A and of the 5 of B are the same" in text
    assert "1 of A split into 2 of B: whole." in text
    assert "2 of A merge into 1 of B: joint." in text
    assert "1 is in A alone: gone." in text


def test_numbers_of_a_pair(planted):
    """Sign and scale bring the row of A onto that of B; p is the hypergeometric tail."""
    pair = compare(*planted).table.set_index("a").loc["kept"]
    assert (pair["sign"], pair["scale"]) == (-1, pytest.approx(0.5))
    assert pair["correlation"] == pytest.approx(-1)
    assert (pair["edges_a"], pair["edges_b"], pair["overlap"]) == (30, 30, 30)
    assert pair["p"] == pytest.approx(hypergeom.sf(29, N, 30, 30), rel=1e-9)


def test_no_correlation_is_beyond_one():
    """Of a result with itself, where rounding is seen."""
    rng = np.random.default_rng(0)
    same = frame({f"r{p}": row(rng, (12 * p, 12 * p + 40)) for p in range(30)})
    samples = pd.DataFrame(rng.standard_normal((50, 30)), columns=same.index)
    table = compare(same, same, activities=(samples, samples)).table
    assert (table[["correlation", "activity_correlation"]].abs() <= 1).all(axis=None)
    assert (table["relation"] == "same").all()


def test_targets_shared_by_neighbours_are_no_relation():
    """Two regulators of one network share targets; that alone relates neither to the partner of
    the other, so one of them that has no partner is lost, not merged."""
    rng = np.random.default_rng(1)
    strong, weak = row(rng, (0, 60)), row(rng, (40, 90))
    weak[40:60] = strong[40:60]
    a, b = frame({"strong": strong, "weak": weak}), frame({"strong": strong})
    overlap = compare(a.loc[["weak"]], b).table
    assert overlap["relation"].tolist() == ["same"], "alone it would be taken for the same"
    assert relations(compare(a, b).table) == {("strong", "strong", "same"), ("weak", None, "lost")}


def test_nothing_is_related_by_chance():
    """Shuffled names of variables: over 50 comparisons of 20 x 20 regulators at most the share that
    the false discovery rate allows (0.05; expected far below, since the rule has two steps)."""
    rng = np.random.default_rng(2)
    related = 0
    for _ in range(50):
        a, b = (rng.standard_normal((20, N)) * (rng.random((20, N)) < 0.1) for _ in "ab")
        found = compare(frame(dict(enumerate(a))), frame(dict(enumerate(b)))).table
        related += bool((found["relation"] == "same").any())
    assert related <= 0.05 * 50 + 2


@st.composite
def networks(draw) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two networks that share some regulators, some of them cut in two."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    P, Q, common = (draw(st.integers(1, 6)) for _ in range(3))
    sizes = rng.integers(5, 60, 18)

    def some(n: int, first: int) -> list[np.ndarray]:
        starts = rng.integers(0, N - 60, n)
        return [row(rng, (s, s + sizes[first + k])) for k, s in enumerate(starts)]

    shared = some(common, 0)
    a = [*shared, *some(P, 6)]
    b = some(Q, 12)
    for weights in shared:
        where = np.flatnonzero(weights)[len(np.flatnonzero(weights)) // 2 :]
        tail = np.isin(np.arange(N), where)
        noisy = weights * rng.uniform(0.7, 1.3, N)
        b += [noisy * ~tail, noisy * tail] if rng.random() < 0.4 else [noisy]
    return frame({f"a{k}": w for k, w in enumerate(a)}), frame(
        {f"b{k}": w for k, w in enumerate(b)}
    )


def sorted_rows(table: pd.DataFrame) -> pd.DataFrame:
    return table.fillna({"a": "", "b": ""}).sort_values(["a", "b"]).reset_index(drop=True)


@settings(max_examples=40)
@given(networks())
def test_exchanging_both_exchanges_columns(pair):
    a, b = pair
    there, back = sorted_rows(compare(a, b).table), compare(b, a).table
    back = back.rename(
        columns={"a": "b", "b": "a", "edges_a": "edges_b", "edges_b": "edges_a"}
    ).assign(relation=[SWAPPED.get(r, r) for r in back["relation"]], scale=1 / back["scale"])
    back = sorted_rows(back)
    columns = ["a", "b", "relation", "scale", "edges_a", "edges_b", *PAIRWISE]
    pd.testing.assert_frame_equal(there[columns], back[columns], rtol=1e-9)


@settings(max_examples=40)
@given(networks(), st.integers(0, 2**32 - 1))
def test_order_sign_and_scale_do_not_matter(pair, seed):
    """Neither of regulators nor the order of variables; sign and scale are reported."""
    a, b = pair
    rng = np.random.default_rng(seed)
    factors = rng.choice([-1, 1], len(a)) * 10.0 ** rng.integers(-3, 4, len(a))
    changed = a.mul(factors, axis=0).iloc[rng.permutation(len(a)), rng.permutation(N)]
    before, after = (sorted_rows(compare(x, b).table) for x in (a, changed))
    factor = before["a"].map(dict(zip(a.index, factors))).astype(float)
    assert before["relation"].tolist() == after["relation"].tolist()
    pd.testing.assert_series_equal(
        before["scale"], after["scale"] * factor.abs(), check_names=False
    )
    for column in ("correlation", "sign"):
        expected = (before[column] * np.sign(factor)).astype(float)
        pd.testing.assert_series_equal(expected, after[column].astype(float), check_names=False)
    same = ["a", "b", "overlap", "p", "q", "edges_a", "edges_b"]
    pd.testing.assert_frame_equal(before[same], after[same])


def test_each_regulator_has_one_relation(planted):
    """A row of "same" uses both ends once; counts add up to the regulators of each side."""
    rng = np.random.default_rng(3)
    base = {f"r{k}": row(rng, (20 * k, 20 * k + 45)) for k in range(12)}
    a, b = frame(base), frame({k: v + row(rng, (0, 5)) for k, v in base.items()})
    for one, two in ((a, b), planted):
        found = compare(one, two)
        same = found.table[found.table["relation"] == "same"]
        assert same["a"].is_unique
        assert same["b"].is_unique
        for name, side in (("A", one), ("B", two)):
            assert sum(count[name] for count in found.counts.values()) == len(side)


def test_too_few_edges_for_any_significance_are_untested():
    """A regulator with one target among few variables cannot be told from chance, lost or not."""
    names = [f"g{n}" for n in range(10)]
    a = pd.DataFrame(np.eye(10)[:3], index=list("xyz"), columns=names)
    table = compare(a, a).table
    assert set(table["relation"]) == {"untested"}


# --- common variables ---


def test_orthologues_translate_names(planted):
    """Through a one-to-one table the answer is that of equal names, for all forms of the table."""
    a, b = planted
    other = b.rename(columns=lambda name: name.replace("g", "sa_"))
    pairs = list(zip(a.columns, other.columns))
    expected = compare(a, b).table
    for orthologs in (pairs, dict(pairs), pd.DataFrame(pairs, columns=["ecoli", "saur"])):
        pd.testing.assert_frame_equal(compare(a, other, orthologs).table, expected)
    with pytest.raises(ValueError, match="wrong way round"):
        compare(a, other, [(y, x) for x, y in pairs])
    with pytest.raises(ValueError, match="0 variables in common: the first has 'g0', 'g1'"):
        compare(a, other)
    with pytest.raises(ValueError, match="two columns"):
        compare(a, other, pd.DataFrame({"only": ["g0"]}))
    with pytest.raises(ValueError, match="DataFrame of two columns"):
        compare(a, other, 7)


def test_one_to_many_orthologues_count_once():
    """A family joined by pairs is one variable, with an edge if any member has one; its strongest
    weight decides."""
    a = pd.DataFrame([[3.0, 0, 0, 1, 0]], index=["a"], columns=list("vwxyz"))
    b = pd.DataFrame([[0.0, -2, 1, 4, 0, 5]], index=["b"], columns=[*"VWwYZ", "alone"])
    pairs = [("v", "V"), ("w", "W"), ("w", "w"), ("x", "w"), ("y", "Y"), ("z", "Z"), ("q", "V")]
    found = compare(a, b, pairs)
    assert found.n_common == 4  # v, {w, x}, y, z
    rows = found.table.set_index("relation").loc["untested"]
    assert rows["edges_a"].dropna().tolist() == [2]
    assert rows["edges_b"].dropna().tolist() == [2]  # {W, w} once; the gene without a partner not
    assert "6 of 7 pairs" in found.summary[-1]
    assert "1 of them families with several members" in found.summary[-1]


def test_numbered_variables_are_compared_only_in_equal_tables():
    """x3 of one array is x3 of another only if both are the same variables."""
    X = simulate(40, 30, 3, noise=0.05, random_state=0).data
    one = RCweb(3, method="paper").fit(X)
    assert compare(one, one).counts["same"]["A"] == 3
    with pytest.raises(ValueError, match="Both models have no names"):
        compare(one, RCweb(3, method="paper").fit(X[:, :25]))
    named = RCweb(3, method="paper").fit(pd.DataFrame(X).add_prefix("g"))
    with pytest.raises(ValueError, match="Model B has no names"):
        compare(named, one)


# --- activities ---


def test_activities_are_compared_over_common_samples(planted):
    """Aligned: positive where weights and activities agree, negative where they do not."""
    a, b = planted
    rng = np.random.default_rng(4)
    R = pd.DataFrame(rng.standard_normal((20, len(a))), columns=a.index)
    S = pd.DataFrame(rng.standard_normal((20, len(b))), columns=b.index)
    S["same"] = -R["kept"]  # the weights have opposite signs too
    S["joint"] = R["left"]  # the weights have opposite signs
    S = S.iloc[5:].iloc[::-1]
    found = compare(a, b, activities=(R, S[S.columns[::-1]]))
    table = found.table.set_index("a")
    assert found.n_samples == 15
    assert table.loc["kept", "activity_correlation"] == pytest.approx(1)
    assert table.loc["left", "activity_correlation"] == pytest.approx(-1)
    assert "Over the 15 samples" in str(found)
    with pytest.raises(ValueError, match="Activities of 2 regulators for a network of 6"):
        compare(a, b, activities=(R.iloc[:, :2], S))
    with pytest.raises(ValueError, match="'0' occurs twice"):
        compare(a, b, activities=(R.set_axis([0] * 20), S))
    apart = compare(a, b, activities=(R, S.set_axis([f"s{k}" for k in range(15)])))
    assert apart.table["activity_correlation"].isna().all()
    assert "0 samples are in both" in str(apart)


def test_halves_of_planted_samples_lead_to_the_same_regulators():
    """Two fits to different samples of one truth agree on all regulators, with their names."""
    truth = simulate(300, 200, 6, density=0.15, noise=0.1, random_state=0)
    X = pd.DataFrame(truth.data).add_prefix("g")
    one, two = (RCweb(6, random_state=0).fit(part) for part in (X[:150], X[150:]))
    one.set_names({"rcweb0": "fur"})
    found = compare(one, two, names=("first", "second"))
    assert found.counts["same"] == {"first": 6, "second": 6}
    assert found.table["correlation"].abs().min() > 0.9
    assert "fur" in set(found.table["a_name"])
