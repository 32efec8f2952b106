"""The page of the benchmark says what the stored results say."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from rcweb.lab.benchmark.comparison import (
    accuracy_lines,
    exponent_lines,
    ksvd_lines,
    loss_lines,
    speed_lines,
)
from rcweb.lab.benchmark.page import MARK, PAGES, main, render, tables

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "benchmark.md"
RESULTS = ROOT / "benchmarks" / "results"


def line(method: str, P: int, rho: float, f1: float, **more: object) -> dict[str, object]:
    """One line of a summary."""
    return {
        "cell": f"cell {P}",
        "label": f"fig1 author P={P}",
        "figure": "fig1",
        "panel": "author",
        "n_features": 500,
        "n_samples": 280,
        "n_regulators": P,
        "threads": 1,
        "method": method,
        "n_ok": 5,
        "n_failed": 0,
        "rho": rho,
        "rho_sd": 0.01,
        "f1": f1,
        "fdr": 0.05 if method == "rcweb" else None,
        "seconds": 2.0,
        **more,
    }


@pytest.fixture
def summary() -> pd.DataFrame:
    """rcweb wins the first cell, K-SVD the second; the oracle is no rival."""
    return pd.DataFrame(
        [
            line("rcweb", 10, 0.95, 0.7),
            line("fastica", 10, 0.9, 0.8, seconds=0.5),
            line("oracle", 10, 0.99, 1.0),
            line("rcweb", 30, 0.6, 0.7),
            line("fastica", 30, 0.5, 0.5, seconds=1.0),
            line("ksvd", 30, 0.8, 0.6),
            line("oracle", 30, 0.99, 1.0),
        ]
    )


@pytest.mark.skipif(not PAGE.exists(), reason="not a clone of the repository")
def test_page_is_in_step_with_the_results() -> None:
    """Numbers on the page are not typed by hand: python -m rcweb.lab.benchmark.page makes them."""
    for name, least in zip(PAGES, (15, 5, 2, 5, 1, 3, 1, 3, 2), strict=True):
        page = (ROOT / name).read_text(encoding="utf-8")
        assert len(MARK.findall(page)) >= least
        assert render(page, RESULTS) == page


@pytest.mark.skipif(not PAGE.exists(), reason="not a clone of the repository")
def test_page_shows_every_table_and_figures_that_exist() -> None:
    """No table is made that nobody sees, no picture is missing."""
    page = "".join((ROOT / name).read_text(encoding="utf-8") for name in PAGES)
    shown = {match["name"] for match in MARK.finditer(page)}
    # The other worlds have the honest convention only, which is their default.
    assert set(tables(RESULTS)) - shown == {"worlds honest"}
    for name in PAGES:
        text = (ROOT / name).read_text(encoding="utf-8")
        pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", text)
        assert [p for p in pictures if not ((ROOT / name).parent / p).exists()] == []


def test_winner_is_bold(summary: pd.DataFrame) -> None:
    """Whoever has the higher accuracy, rcweb or not; the oracle never."""
    table = accuracy_lines(summary).set_index("cell")
    assert table.at["P=10", "rcweb"] == "**0.950** ± 0.010"
    assert table.at["P=10", "best rival"] == "0.900 fastica"
    assert table.at["P=30", "rcweb"] == "0.600 ± 0.010"
    assert table.at["P=30", "best rival"] == "**0.800** ksvd"
    assert table.at["P=10", "oracle"] == "0.990"


def test_losses_are_all_told(summary: pd.DataFrame) -> None:
    """Accuracy is lost in one cell to K-SVD, F1 in the other to FastICA."""
    rho = loss_lines(summary, "rho")
    assert list(rho["which"]) == ["ksvd"]
    assert rho["by"].iloc[0] == pytest.approx(0.2)
    assert list(loss_lines(summary, "f1")["cell"]) == ["fig1 author P=10"]


def test_times(summary: pd.DataFrame) -> None:
    """Ratios of seconds per panel and in all."""
    speed = speed_lines(summary)
    assert list(speed["median ratio"]) == ["3.0", "3.0"]
    assert list(speed["greatest"]) == ["4.0", "4.0"]


def test_ksvd_beside_the_package() -> None:
    """How many times faster is theirs over ours."""
    pair = [line("ksvd", 10, 0.9, 0.5), line("ksvd-package", 10, 0.8, 0.5, seconds=8.0)]
    table = ksvd_lines(pd.DataFrame(pair))
    assert list(table["times faster"]) == ["4.0"]


def test_exponents_in_the_order_of_the_paper() -> None:
    """P, M, N across; limits in brackets; rcweb first."""
    exponents = pd.DataFrame(
        {
            "method": ["fastica"] * 3 + ["rcweb"] * 3,
            "threads": 1,
            "size_varied": ["M", "N", "P"] * 2,
            "exponent": [1.0, 1.0, 2.0] * 2,
            "low": 0.5,
            "high": 2.5,
        }
    )
    table = exponent_lines(exponents)
    assert list(table.columns) == ["method", "threads", "P", "M", "N"]
    assert table.iloc[0].tolist() == ["rcweb", 1, "2.00 [0.50, 2.50]", *["1.00 [0.50, 2.50]"] * 2]


def test_render_fills_and_check_tells(summary: pd.DataFrame, tmp_path: Path) -> None:
    """Only what stands between the marks changes; --check writes nothing."""
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table fig1 -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")
    (tmp_path / "fig1").mkdir()
    summary.to_csv(tmp_path / "fig1" / "summary.csv", index=False)
    arguments = ["--page", str(page), "--results", str(tmp_path)]
    assert main([*arguments, "--check"]) == 1
    assert "old" in page.read_text(encoding="utf-8")
    assert main(arguments) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- table fig1 -->\n| cell |")
    assert text.endswith("|\n<!-- end -->\nafter\n")
    assert main([*arguments, "--check"]) == 0


def test_what_was_not_run_is_said_and_unknown_tables_are_refused(tmp_path: Path) -> None:
    """A missing plan is a sentence, a misspelt table an error that lists the tables."""
    assert "Not measured yet." in render("<!-- table fig3 -->\n<!-- end -->", tmp_path)
    with pytest.raises(ValueError, match="known: published"):
        render("<!-- table figure3 -->\n<!-- end -->", tmp_path)
