"""The page as a reader meets it: in a real browser, from a file, without a network."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_browser import (
    click_at,
    find,
    open_afresh,
    problems,
    requests,
    set_slider,
    show_as,
    texts,
    type_into,
    wait_for,
)
from report_examples import HOSTILE, fitted

from rcweb.knowledge import match_measured
from rcweb.network import Network
from rcweb.report import report_data, write_report

pytestmark = pytest.mark.browser


def _measured(model):
    """One factor that is regulator 3 and one that is none."""
    activities = pd.DataFrame(model.activities, columns=model.network_.regulators)
    noise = np.random.default_rng(0).normal(size=len(activities))
    return match_measured(activities, pd.DataFrame({"x": noise, HOSTILE: activities["rcweb3"]}))


@pytest.fixture
def page(browser, tmp_path: Path, known_table, term_table):
    """A small page with everything on it, among it a hostile gene, opened at laptop width."""
    model = fitted(genes=[HOSTILE, *(f"gene{n}" for n in range(1, 80))])
    targets = model.network_.target_sets()["rcweb1"]
    data = report_data(
        model,
        model.activities,
        sample_groups=["control", "treated", HOSTILE] * 10,
        annotations={"known": known_table, "terms": term_table, "measured": _measured(model)},
        gene_sets={"Fur": [*targets[:5], HOSTILE, "gene_not_measured"]},
        provenance={"seed": 0},
        title="A <b>bold</b> title",
    )
    path = write_report(tmp_path / "report.html", data)
    open_afresh(browser, path)
    yield browser
    assert problems(browser) == []
    asked = requests(browser)
    assert asked[0] == path.as_uri()
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []


def test_loads_from_a_file(page):
    """Summary, warning, figures, list, detail, spectrum: all there, and the best-known one open."""
    assert find(page, ".headline").text.startswith("6 hidden regulators")
    assert texts(page, ".warning") == ["Note. One regulator is weak."]
    assert "72\nedges" in texts(page, "#figures div")
    assert len(texts(page, "tr[data-regulator]")) == 6
    assert find(page, "#detail-title").text == "Fur rcweb1"
    assert len(page.find_elements("css selector", "#choice-view circle")) == 16
    assert "Six singular values" in find(page, "#choice-view").text


def test_names_stay_text(page):
    """A title with tags and a gene called <script> are shown letter by letter."""
    assert find(page, "h1").text == "A <b>bold</b> title"
    assert page.title == "A <b>bold</b> title · rcweb"
    assert HOSTILE[:20] in find(page, ".rows-box").text
    full = "return [...document.querySelectorAll('.rows-box title')].map((e) => e.textContent)"
    assert HOSTILE in page.execute_script(full), "a name that was shortened"
    type_into(page, "#node-search", "<script>")
    assert HOSTILE in find(page, "#node-options").text
    assert page.execute_script("return document.scripts.length") == 2


def test_search_finds_names_targets_and_terms(page):
    """The list narrows to what was typed, says how many are left, and comes back."""
    cases = {"fur": ["rcweb0", "rcweb1"], "iron uptake": ["rcweb0"], "rcweb5": ["rcweb5"]}
    for text, expected in cases.items():
        type_into(page, "#regulator-search", text)
        rows = texts(page, "tr[data-regulator]")
        assert len(rows) == len(expected)
        assert all(name in row for name, row in zip(expected, rows))
    assert find(page, "#regulator-list [role=status]").text == "1 of 6 regulators"
    type_into(page, "#regulator-search", "no such thing")
    assert texts(page, "#regulator-list tbody tr") == ["None."]


def test_sort_by_heading(page):
    """A click sorts, a second one turns the order; assistive technology is told."""
    column = "#regulator-list th:nth-child(3)"
    find(page, f"{column} button").click()
    assert find(page, column).get_attribute("aria-sort") == "descending"
    assert texts(page, "#regulator-list tbody td:nth-child(3)")[:2] == ["30.0%", "26.0%"]
    find(page, f"{column} button").click()
    assert find(page, column).get_attribute("aria-sort") == "ascending"
    assert texts(page, "#regulator-list tbody td:nth-child(3)")[0] == "10.0%"


def test_open_a_regulator_and_go_back(page):
    """A click opens it with targets, overlap and focus; the address names it; back works."""
    find(page, "tr[data-regulator='3'] td").click()
    wait_for(lambda: find(page, "#detail-title").text == "rcweb3", "a click anywhere on the row")
    find(page, "tr[data-regulator='1'] button").click()
    wait_for(lambda: find(page, "#detail-title").text == "Fur rcweb1", "the other regulator")
    assert page.current_url.endswith("#regulator=rcweb1")
    assert page.execute_script("return document.activeElement.id") == "detail"
    assert find(page, "tr[aria-current]").get_attribute("data-regulator") == "1"
    assert "Targets (12)" in texts(page, "#detail h4")
    assert texts(page, "#detail .genes summary")[1:] == ["5 known, found", "7 new"]
    assert "1 known target not in the data" in find(page, "#detail").text
    page.back()
    wait_for(lambda: find(page, "#detail-title").text == "rcweb3", "going back")


def test_unnamed_regulators_show_no_chance_description(page):
    """A set that fits by no more than chance must not stand under the title as what it is."""
    find(page, "tr[data-regulator='2'] button").click()
    wait_for(lambda: find(page, "#detail-title").text == "rcweb2", "the unnamed regulator")
    assert "zinc" not in find(page, ".detail-head").text
    assert "Zur (no more than chance)" in find(page, "#detail").text
    assert "No name: best overlap Zur: 1 of 20" in find(page, ".detail-head").text


def test_diagnosis_explains_its_words(page):
    """The words of the fit are explained; one that nobody explained is shown all the same."""
    detail = find(page, "#detail")
    assert "Converged\nyes" in detail.text
    summaries = page.find_elements("css selector", "#detail summary")
    next(one for one in summaries if one.text == "What these mean").click()
    meanings = texts(page, "#detail details[open] li")
    assert len(meanings) == 1
    assert meanings[0].startswith("variance share: share of the variance")


def test_measured_factors_lead_to_their_regulators(page):
    """Named and unnamed factors are listed, escaped; a name opens the regulator."""
    rows = texts(page, "#measured tbody tr")
    assert len(rows) == 2
    assert rows[0].startswith(HOSTILE)
    assert "none fits" in rows[1]
    find(page, "#measured tbody button").click()
    wait_for(lambda: find(page, "#detail-title").text == "rcweb3", "the measured regulator")


def test_network_filters_search_and_clicks(page):
    """Sliders hide edges; search tells a gene's regulators; the way leads on to a regulator."""
    panel = "#network-panel"
    assert find(page, panel).text.startswith("72 edges between 6 regulators")
    set_slider(page, "#min-probability", 0.9)
    shown = int(find(page, panel).text.split()[0])
    probability = fitted().network_.probability
    assert shown == (np.round(probability, 4) >= 0.9).sum()
    set_slider(page, "#min-probability", 0)
    set_slider(page, "#max-edges", 20)
    assert find(page, panel).text.startswith("20 edges")
    set_slider(page, "#max-edges", 72)
    target = fitted().network_.target_sets()["rcweb4"][0]
    type_into(page, "#node-search", target)
    find(page, "#node-search").send_keys("\ue007")  # enter
    assert find(page, f"{panel} h3").text == target
    find(page, f"{panel} .edges button").click()
    assert find(page, f"{panel} h3").text.startswith(("rcweb", "Fur"))
    find(page, f"{panel} .buttons button").click()
    wait_for(lambda: "#regulator=" in page.current_url, "the address of the regulator")


def picture_of_network(driver):
    """Pixels of the drawing, after what was asked for is drawn."""
    settle = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done))"
    driver.execute_async_script(settle)
    return driver.execute_script("return document.getElementById('network-canvas').toDataURL()")


def test_network_moves_by_keyboard_and_buttons(page):
    """What the mouse does the keys do too: the picture changes, and 0 brings it back."""
    canvas = find(page, "#network-canvas")
    page.execute_script("document.getElementById('network').scrollIntoView()")

    def after(action):
        action()
        return picture_of_network(page)

    start = after(lambda: None)
    assert after(lambda: canvas.send_keys("+")) != start
    assert after(lambda: canvas.send_keys("0")) == start
    assert after(lambda: canvas.send_keys("\ue014")) != start  # arrow right
    assert after(find(page, "[aria-label='Show all of the network']").click) == start
    assert after(find(page, "[aria-label='Zoom in']").click) != start


def test_network_answers_the_mouse(page):
    """A dot under the pointer is named, a click chooses it, a click beside it lets it go."""
    page.execute_script("document.getElementById('network').scrollIntoView()")
    canvas = find(page, "#network-canvas")
    place = page.execute_script(
        """
        const [canvas, tip] = arguments;
        const box = canvas.getBoundingClientRect();
        for (let x = 5; x < box.width; x += 5) for (let y = 5; y < box.height; y += 5) {
            const at = { clientX: box.left + x, clientY: box.top + y };
            canvas.dispatchEvent(new PointerEvent("pointermove", at));
            if (canvas.classList.contains("over-node"))
                return [x - box.width / 2, y - box.height / 2, tip.textContent];
        }""",
        canvas,
        find(page, "#tip"),
    )
    assert place is not None, "no dot found anywhere"
    x, y, name = place
    click_at(page, canvas, x, y)
    assert find(page, "#network-panel h3").text == name
    click_at(page, canvas, 4 - canvas.size["width"] // 2, 4 - canvas.size["height"] // 2)
    assert find(page, "#network-panel").text.startswith("72 edges")


def test_downloads_hold_the_tables(page):
    """Every table can be saved; the network's file has the edges of the model."""
    network = fitted().network_
    find(page, "tr[data-regulator='0'] button").click()
    wait_for(lambda: find(page, "#detail-title").text == "Fur-2 rcweb0", "a regulator with terms")
    names = {
        button.text.removeprefix("↓ ") for button in page.find_elements("css selector", ".file")
    }
    assert {"network.tsv", "regulators.tsv", "activities.tsv", "terms.tsv"} <= names
    assert "measured.tsv" in names
    assert {"targets_Fur-2.tsv", "overlap_Fur-2.tsv", "terms_Fur-2.tsv"} <= names
    button = next(
        button
        for button in page.find_elements("css selector", "#files .file")
        if button.text.endswith("network.tsv")
    )
    page.execute_script("arguments[0].click()", button)
    path = page.downloads / "network.tsv"
    lines = wait_for(lambda: path.exists() and path.read_text().splitlines(), "the download")
    assert lines[0].split("\t") == [
        *("regulator", "target", "weight", "probability"),
        *("regulator_name", "target_name", "grade"),
    ]
    assert len(lines) == 1 + network.n_edges
    first = lines[1].split("\t")
    expected = network.edges().iloc[0]
    assert (first[0], first[1]) == (expected.regulator, expected.target)
    assert float(first[2]) == pytest.approx(expected.weight, rel=5e-4)


def test_light_and_dark(page):
    """The page follows the system, until the button says otherwise."""
    background = "return getComputedStyle(document.body).backgroundColor"
    light = page.execute_script(background)
    show_as(page, 1366, 850, scheme="dark")
    dark = wait_for(lambda: (c := page.execute_script(background)) != light and c, "dark colours")
    find(page, "#theme").click()
    assert page.execute_script(background) == light
    page.refresh()
    assert page.execute_script(background) == light, "the choice is remembered"
    assert find(page, "#theme").get_attribute("aria-label") == "Switch to dark colours"
    assert dark != light


def test_fits_a_phone(page):
    """At phone width nothing sticks out sideways and the drawing has the width of the page."""
    show_as(page, 390, 844)
    page.refresh()
    assert page.execute_script("return document.documentElement.scrollWidth") == 390
    wait_for(lambda: find(page, "#detail .plot svg").size["width"] > 300, "the drawing")
    assert find(page, "#network-canvas").size["width"] > 340


def test_two_fingers_zoom(page):
    """On a phone two fingers move apart and the drawing grows."""
    show_as(page, 390, 844)
    page.refresh()
    page.execute_script("document.getElementById('network-canvas').scrollIntoView()")
    before = picture_of_network(page)
    box = find(page, "#network-canvas").rect
    top = box["y"] - page.execute_script("return scrollY") + box["height"] / 2
    for kind, gap in (("touchStart", 40), ("touchMove", 60), ("touchMove", 90), ("touchEnd", None)):
        points = [] if gap is None else [{"x": 195 - gap, "y": top}, {"x": 195 + gap, "y": top}]
        event = {"type": kind, "touchPoints": points}
        page.execute_cdp_cmd("Input.dispatchTouchEvent", event)
    assert picture_of_network(page) != before


def test_keyboard_and_screen_reader(page):
    """First tab skips to the content; every control has a name, every table header a scope."""
    find(page, "body").send_keys("\ue004")  # tab
    assert page.execute_script("return document.activeElement.className") == "skip"
    nameless = page.execute_script("""
        const named = (e) => e.textContent.trim() || e.getAttribute("aria-label") ||
            (e.labels && e.labels.length);
        return [...document.querySelectorAll("button, input, select, a, [role=img], canvas")]
            .filter((e) => !named(e)).map((e) => e.outerHTML)""")
    assert nameless == []
    unscoped = (
        "return document.querySelectorAll('th:not([scope]), table:not(:has(caption))').length"
    )
    assert page.execute_script(unscoped) == 0
    repeated = """
        const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
        return ids.filter((id, i) => ids.indexOf(id) !== i)"""
    assert page.execute_script(repeated) == []


def test_poor_page(browser, tmp_path):
    """One regulator without edges, one sample, nothing else known: a page without an error."""
    empty = np.zeros((1, 3))
    model = SimpleNamespace(network_=Network(empty, empty, empty, ("rcweb0",), ("a", "b", "c")))
    path = write_report(tmp_path / "poor.html", report_data(model, np.ones((1, 1))))
    open_afresh(browser, path)
    assert find(browser, ".headline").text.startswith("No regulator was found")
    assert find(browser, "#detail-title").text == "rcweb0"
    assert find(browser, "#network-panel").text.startswith("0 edges")
    assert problems(browser) == []


def test_large_page_is_small_and_quick(browser, tmp_path):
    """100 regulators x 5,000 genes, 6,000 edges: < 15 MB; what a filter builds anew, on which its
    time depends, is hundreds of elements and not thousands."""
    model = fitted(100, 5000, degree=60, n_samples=500)
    groups = [f"group {m % 12}" for m in range(500)]
    data = report_data(model, model.activities, sample_groups=groups)
    path = write_report(tmp_path / "large.html", data)
    assert path.stat().st_size < 15e6
    open_afresh(browser, path)
    built = """
        const [css, value, done] = arguments;
        let count = 0;
        const watch = new MutationObserver((changes) => changes.forEach((change) =>
            change.addedNodes.forEach((node) => {
                count += 1 + (node.querySelectorAll?.("*").length ?? 0);
            })));
        watch.observe(document.body, { childList: true, subtree: true });
        const control = document.querySelector(css);
        control.value = value;
        control.dispatchEvent(new Event("input", { bubbles: true }));
        // The second frame begins after the first was painted.
        requestAnimationFrame(() => requestAnimationFrame(() => {
            watch.disconnect();
            done(count);
        }));"""
    for css, values in {
        "#min-probability": [0.6, 0.7, 0.8, 0.9, 0.5],
        "#max-edges": [6000, 100, 5000, 4000, 6000],
        "#regulator-search": ["gene12", "rcweb7", "x", "gene", ""],
    }.items():
        counts = [browser.execute_async_script(built, css, value) for value in values]
        assert 0 < max(counts) < 2000, f"{css} built {counts} elements"
    assert problems(browser) == []
