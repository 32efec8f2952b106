"""The page about two fits: complete, self-contained, and safe with any name."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from report_browser import show_as
from report_examples import HOSTILE

from rcweb.activity import compare
from rcweb.report import render_comparison


@pytest.fixture
def result():
    """Three regulators of 20 targets, the first with a hostile name; two of them come back."""
    weights = np.kron(np.eye(3), np.ones(20)) * np.linspace(1, 2, 60)
    one = pd.DataFrame(weights, index=[HOSTILE, "b", "c"]).add_prefix("g")
    return compare(one, one[:2].mul([2, -3], axis=0), names=(HOSTILE, "other"))


def test_every_row_is_in_the_table(result):
    body = render_comparison(result).split("<tbody>")[1].split("</tbody>")[0]
    rows = ElementTree.fromstring(f"<t>{body}</t>")
    assert len(rows) == len(result.table) == 3
    cells = [[cell.get("data-value") for cell in row] for row in rows]
    assert sorted(row[0] for row in cells) == sorted([HOSTILE, "b", "c"])
    assert [row[2] for row in cells] == ["same", "same", "lost"]
    assert cells[2][3:8] == [""] * 5
    assert sorted(float(row[3]) for row in cells[:2]) == pytest.approx([-1, 1])


def test_names_stay_text_and_nothing_is_loaded(result):
    """The hostile name is there, escaped; one script, allowed by its hash; no address is loaded."""
    page = render_comparison(result, "<?xml?>\n<svg><text style='fill: #1c2430'>a</text></svg>")
    assert HOSTILE not in page
    assert "<script>document" not in page
    assert page.count("<script") == 1
    assert "default-src 'none'" in page
    assert not re.search(r"""(src|href)\s*=|@import|url\(""", page)
    assert "fill: currentColor" in page


@pytest.mark.browser
def test_page_in_a_browser(result, browser, tmp_path):
    """No error, no sideways scrolling on a phone, and a click sorts, empty cells last."""
    path = tmp_path / "compare.html"
    path.write_text(render_comparison(result), encoding="utf-8")
    show_as(browser, 390, 844)
    browser.get(path.as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    show_as(browser, 1280, 900)

    def column(n: int) -> list[str]:
        cells = browser.find_elements("css selector", f"#matches tbody td:nth-child({n})")
        return [cell.get_attribute("data-value") for cell in cells]

    head = browser.find_elements("css selector", "#matches th button")[3]
    for direction in (1, -1):
        head.click()
        *numbers, last = column(4)
        assert last == ""
        assert [float(x) for x in numbers] == sorted(map(float, numbers), reverse=direction < 0)
    assert not [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]
