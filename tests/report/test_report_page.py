"""The file: one piece, safe against names from the data, written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_examples import HOSTILE, fitted

from rcweb.report import render_report, report_data, write_report
from rcweb.report.page import _json_for_html


class Scripts(HTMLParser):
    """Collects scripts and everything that points outside the page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[list[str]] = []
        self.outside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "script":
            self.scripts.append([dict(attrs).get("type") or "", ""])
        self.open = tag
        self.outside += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]

    def handle_data(self, data):
        if self.scripts and self.open == "script":
            self.scripts[-1][1] += data

    def handle_endtag(self, tag):
        self.open = ""


def hostile_page() -> str:
    genes = [
        HOSTILE,
        "</script><img src=x onerror=alert(1)>",
        "<!--",
        *(f"g{n}" for n in range(77)),
    ]
    model = fitted(genes=genes)
    return render_report(
        report_data(
            model,
            model.activities,
            sample_groups=[HOSTILE] * 30,
            provenance={HOSTILE: HOSTILE},
            title=HOSTILE,
        )
    )


def test_names_never_become_markup():
    """A gene called <script> stays text: the page holds its own two scripts, no more."""
    page = Scripts(hostile_page())
    assert [kind for kind, _ in page.scripts] == ["application/json", ""]
    assert json.loads(page.scripts[0][1])["genes"][0] == HOSTILE


def test_page_is_one_piece():
    """Nothing is fetched from anywhere, and the policy of the page forbids it besides."""
    text = hostile_page()
    page = Scripts(text)
    assert page.outside == []
    digest = base64.b64encode(hashlib.sha256(page.scripts[1][1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert not re.search(r"@import|url\(", text)


@given(st.text())
def test_json_in_html_means_the_same(text):
    """Escaping changes the spelling, never the value, and leaves nothing html could read."""
    escaped = _json_for_html(json.dumps(text, ensure_ascii=False))
    assert json.loads(escaped) == text
    assert not set(escaped) & set("<>&")


def test_written_whole_or_not_at_all(tmp_path, model, monkeypatch):
    """A failure while writing leaves the page that was there."""
    path = tmp_path / "report.html"
    path.write_text("old")
    data = report_data(model, model.activities)
    monkeypatch.setattr("rcweb.storage.atomic.os.replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(path, data)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_same_data_same_page(model):
    """The page holds no clock and no chance."""
    pages = {render_report(report_data(model, model.activities)) for _ in range(2)}
    assert len(pages) == 1
