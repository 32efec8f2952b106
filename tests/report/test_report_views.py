"""Views of the page that lead from one thing to another: groups, grades, variables, analyses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_browser import find, open_afresh, problems, show_as, texts, type_into, wait_for
from report_examples import (
    HOSTILE,
    association_table,
    contrast_table,
    fitted,
    prior_activities,
    prior_tables,
)
from scipy import stats

from rcweb.report import report_data, write_report

pytestmark = pytest.mark.browser

GRADES = ("certified", "found", "unconfirmed", "certified", "found", "found")
GROUPS = [f"group {k} of a long experiment with a name that no row can hold" for k in range(15)]


@pytest.fixture
def page(browser, tmp_path: Path, known_table):
    """A page with grades, 15 groups, annotation, links and all analyses."""
    model = fitted(n_samples=45)
    model.network_ = replace(model.network_, grades=GRADES)
    genes = model.network_.targets
    sets = {"Fur": model.network_.target_sets()["rcweb1"][:7], "Crp": genes[:20]}
    lists, targets = prior_tables(model)
    data = report_data(
        model,
        model.activities,
        sample_groups=GROUPS * 3,
        annotations=known_table,
        gene_sets=sets,
        gene_names=[f"name/{n} &?" for n in range(80)],
        gene_table=pd.DataFrame(
            {"product": [f"protein {n}" for n in range(80)], "note": [HOSTILE, *["x"] * 79]},
            index=genes,
        ),
        gene_explained=pd.Series(0.75, index=genes),
        link="https://example.org/find?q={id}&n={name}",
        contrasts=contrast_table(model),
        associations=association_table(model),
        prior=lists,
        prior_targets=targets,
        prior_activities=prior_activities(model),
    )
    open_afresh(browser, write_report(tmp_path / "report.html", data))
    yield browser
    assert problems(browser) == []


def interval_of(group):
    """Mean, its 95 % interval from the spread within all groups, and the number of samples."""
    values = pd.Series(fitted(n_samples=45).activities[:, 1])
    groups = values.groupby(GROUPS * 3)
    df = len(values) - len(GROUPS)
    spread = np.sqrt(((values - groups.transform("mean")) ** 2).sum() / df)
    mean, half = groups.mean()[group], stats.t.ppf(0.975, df) * spread / np.sqrt(3)
    return [mean, mean - half, mean + half, 3]


def choose(driver, css, value):
    """Take an option of a select as a user would, with the event it causes."""
    script = """
        const [css, value] = arguments;
        const field = document.querySelector(css);
        field.value = value;
        field.dispatchEvent(new Event("change"));"""
    driver.execute_script(script, css, value)


def labels(driver):
    """Full names of the groups, from top to bottom."""
    script = """
        return [...document.querySelectorAll(".rows-box .label title")].map((e) => e.textContent)"""
    # Drawings are made once the page knows their width.
    return wait_for(lambda: driver.execute_script(script), "the rows")


def save(driver, name, kind):
    """Press the button of a figure, wherever on the page it is."""
    script = "document.querySelector(`[aria-label='${arguments[0]}']`).click()"
    driver.execute_script(script, f"Save {name} as {kind}")


def saved(driver, name):
    """The content of a file that the page saved."""
    path = driver.downloads / name
    return wait_for(lambda: path.exists() and path.read_bytes(), f"the file {name}")


def test_every_group_has_a_row(page):
    """Strongest first, other orders on demand, a search, and the same numbers as a table."""
    means = pd.Series(fitted(n_samples=45).activities[:, 1]).groupby(GROUPS * 3).mean()
    strongest = means.abs().sort_values(ascending=False).index
    assert labels(page) == list(strongest)
    choose(page, "#activity-order", "mean")
    assert labels(page) == list(means.sort_values(ascending=False).index)
    choose(page, "#activity-order", "sheet")
    assert labels(page) == GROUPS
    type_into(page, "#group-search", "group 11 ")
    assert labels(page) == [GROUPS[11]]
    assert find(page, ".rows-box .label").text.startswith("group 11")
    assert GROUPS[11] not in find(page, ".rows-box .label").text, "shortened to fit"
    find(page, ".part details.later summary").click()
    rows = wait_for(lambda: texts(page, ".part details.later tbody tr"), "the table")
    assert rows[0].startswith(strongest[0])
    assert [float(cell.replace("−", "-")) for cell in rows[0].split()[-4:]] == pytest.approx(
        interval_of(strongest[0]), rel=6e-3
    )
    assert find(page, ".rows-box").get_attribute("tabindex") == "0", "scrolls by keyboard"
    choose(page, "#activity-order", "table")
    wait_for(lambda: len(page.find_elements("css selector", "#detail svg .dot")) == 45, "samples")


def test_grades_are_words_and_a_filter(page):
    """In the list, in the head of a regulator with what they mean, and as a choice."""
    assert texts(page, "#regulator-list .grade") == list(GRADES)
    choose(page, "#grade-filter", "found")
    assert len(texts(page, "tr[data-regulator]")) == 3
    assert find(page, "#regulator-list [role=status]").text == "3 of 6 regulators"
    choose(page, "#grade-filter", "")
    find(page, "tr[data-regulator='2'] button").click()
    wait_for(lambda: find(page, "#detail-title").text == "rcweb2", "the regulator")
    assert "unconfirmed neither found again" in find(page, ".detail-head").text
    assert "its edges are not drawn" in find(page, ".detail-head").text


def test_candidates_show_their_evidence(page):
    """Overlap, precision, recall and q of each: 9 of 12 targets are 9 of 10 known ones."""
    table = next(
        part
        for part in page.find_elements("css selector", "#detail .part")
        if part.text.startswith("Candidate names")
    )
    assert "Fur" in table.text
    assert "9 / 10 75% 90%" in table.text


def test_a_variable_has_its_own_page(page):
    """From a target, from its address and from the search; regulators, variance, annotation."""
    find(page, "#detail .gene button").click()
    wait_for(lambda: "#gene=" in page.current_url, "the address of the variable")
    assert "75%" in find(page, "#detail").text
    page.get(page.current_url.split("#")[0] + "#gene=gene0")
    wait_for(lambda: find(page, "#detail-title").text.startswith("name/0 &?"), "the variable")
    detail = find(page, "#detail")
    assert HOSTILE in detail.text
    assert "protein 0" in detail.text
    network = fitted(n_samples=45).network_
    count = int((network.weights[:, 0] != 0).sum())
    assert f"Regulators ({count})" in texts(page, "#detail h4")
    type_into(page, "#regulator-search", "gene1")
    found = find(page, "#regulator-list .links")
    assert "and 5 more" in found.text
    found.find_element("css selector", "button").click()
    wait_for(lambda: "#gene=gene1" in page.current_url, "a variable of the search")


def test_links_out_are_encoded_and_closed(page):
    """The name cannot leave its place in the address; the other page learns nothing of this one."""
    page.get(page.current_url.split("#")[0] + "#gene=gene3")
    link = wait_for(lambda: page.find_elements("css selector", "#detail a.out"), "the link")[0]
    assert link.get_attribute("href") == "https://example.org/find?q=gene3&n=name%2F3%20%26%3F"
    assert link.get_attribute("rel") == "noopener noreferrer"
    assert link.get_attribute("target") == "_blank"


def test_tabs_by_mouse_and_keyboard(page):
    """Three tabs, one panel at a time; arrows move; an address opens one."""
    assert texts(page, "[role=tab]") == ["Contrasts", "Associations", "Known lists"]
    find(page, "#tab-contrasts").send_keys("\ue014")  # arrow right
    assert find(page, "#tab-associations").get_attribute("aria-selected") == "true"
    assert find(page, "#associations").is_displayed()
    assert not find(page, "#contrasts").is_displayed()
    page.get(page.current_url.split("#")[0] + "#lists")
    wait_for(lambda: find(page, "#lists").is_displayed(), "the tab of the address")


def test_contrasts_lead_to_regulators(page):
    """The comparison with most changes is open; a dot and a name open the regulator."""
    table = contrast_table(fitted(n_samples=45))
    hits = (table["q"] <= 0.05).groupby(table["group"]).sum()
    assert find(page, "#contrasts [role=status]").text.startswith(f"{hits.max()} of 6 regulators")
    choice = "cold" if hits["hot"] == hits.max() else "hot"
    options = texts(page, "#contrast-choice option")
    position = next(i for i, text in enumerate(options) if text.startswith(choice))
    value = page.find_elements("css selector", "#contrast-choice option")[position]
    choose(page, "#contrast-choice", value.get_attribute("value"))
    rows = table[table["group"] == choice].sort_values("p")
    first = find(page, "#contrasts tbody tr button")
    names = ["Fur-2", "Fur", "rcweb2", "rcweb3", "rcweb4", "rcweb5"]
    assert first.text == names[int(rows["regulator"].iloc[0].removeprefix("rcweb"))]
    assert len(page.find_elements("css selector", "#contrasts svg circle")) == 6
    script = "document.querySelector('#contrasts svg circle').dispatchEvent(new Event('click'))"
    page.execute_script(script)
    wait_for(lambda: "#regulator=" in page.current_url, "the regulator of the dot")


def test_heat_map_tells_and_leads_on(page):
    """A significant association is a cell; a click says its numbers, a name opens."""
    find(page, "#tab-associations").click()
    hits = int((association_table(fitted(n_samples=45))["q"] <= 0.05).sum())
    cells = wait_for(
        lambda: page.find_elements("css selector", "#associations rect.clickable"), "the cells"
    )
    assert len(cells) == hits
    page.execute_script("arguments[0].dispatchEvent(new Event('click'))", cells[0])
    assert "effect" in find(page, ".chosen-cell").text
    find(page, ".chosen-cell button").click()
    wait_for(lambda: "#regulator=" in page.current_url, "the regulator")


def test_known_lists_show_their_targets(page):
    """Seen, not seen and new, each with its probability."""
    find(page, "#tab-lists").click()
    rows = texts(page, "#lists tbody tr")
    assert [row.split()[0] for row in rows] == ["fur", "zur"]
    assert "its own" in rows[1]
    assert find(page, "#lists .prose").text.startswith("1 of 2 lists of known targets is supported")
    find(page, "#lists tbody button").click()
    assert texts(page, ".list-targets h4") == [
        *("Activity by group", "Members seen (1)", "Members not seen (1)", "New targets (1)")
    ]
    assert "0.900" in find(page, ".list-targets").text


def test_known_lists_show_their_activities_with_intervals(page):
    """A point and a line per sample; the file has the errors; no list without support has any."""
    find(page, "#tab-lists").click()
    find(page, "#lists tbody button").click()
    given = prior_activities(fitted(n_samples=45))
    choose(page, "#list-activity-order", "table")
    lines = wait_for(
        lambda: page.find_elements("css selector", ".list-targets line.faint"), "the intervals"
    )
    assert len(lines) == len(given)
    heights = [float(e.get_attribute("y1")) - float(e.get_attribute("y2")) for e in lines]
    np.testing.assert_allclose(
        np.array(heights) / heights[0], given["fur std"] / given["fur std"][0], rtol=0.02
    )
    assert "Lines are 95 % intervals" in find(page, ".list-targets .note").text
    files = page.find_elements("css selector", ".list-targets .file")
    button = next(file for file in files if file.text == "↓ activity_fur.tsv")
    page.execute_script("arguments[0].click()", button)
    header, first = saved(page, "activity_fur.tsv").decode().splitlines()[:2]
    assert header.split("\t") == ["sample", "group", "activity", "std"]
    values = [float(cell) for cell in first.split("\t")[2:]]
    np.testing.assert_allclose(values, given.iloc[0], rtol=1e-3)
    page.find_elements("css selector", "#lists tbody button.name")[1].click()
    assert "Activity" not in " ".join(texts(page, ".list-targets h4"))


def test_without_groups_no_list_is_called_supported(browser, tmp_path):
    """Operons vary together whatever a list says."""
    model = fitted(n_samples=45)
    lists, targets = prior_tables(model)
    told = {"prior": lists, "prior_targets": targets, "prior_grouped": False}
    data = report_data(model, model.activities, **told)
    open_afresh(browser, write_report(tmp_path / "report.html", data))
    find(browser, "#tab-lists").click()
    said = find(browser, "#lists .prose").text
    assert "1 of 2 lists of known targets has members that vary together" in said
    assert "Supported" not in find(browser, "#lists thead").text
    assert problems(browser) == []


def test_figures_are_saved_with_their_colours(page):
    """SVG has no classes left to look up; PNG is a picture; the network has both."""
    save(page, "activity_Fur", "SVG")
    svg = saved(page, "activity_Fur.svg").decode()
    assert svg.startswith("<svg")
    assert "rgb(0, 114, 178)" in svg
    assert "class=" not in svg
    assert svg.count("<title>") == len(GROUPS), "all rows, not those in sight"
    save(page, "weights_Fur", "PNG")
    assert saved(page, "weights_Fur.png").startswith(b"\x89PNG")
    for kind, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        save(page, "network", kind)
        assert saved(page, f"network.{kind.lower()}").startswith(begin)


def test_every_figure_and_table_can_be_saved(page):
    """No drawing without its two buttons, no sortable table without its file."""
    for tab in ("contrasts", "associations", "lists"):
        find(page, f"#tab-{tab}").click()
    bare = page.execute_script("""
        return [...document.querySelectorAll("figure")]
            .filter((e) => e.querySelectorAll(".tool").length !== 2).length""")
    assert bare == 0
    tables = page.execute_script("""
        return [...document.querySelectorAll(".table")]
            .filter((e) => !e.parentElement.querySelector(".file")).length""")
    assert tables == 0


def test_neighbourhood_alone(page):
    """The switch hides what is not near the chosen one, in the drawing and under the pointer."""

    def edges():
        (page.downloads / "network.svg").unlink(missing_ok=True)
        save(page, "network", "SVG")
        return saved(page, "network.svg").count(b"L")

    type_into(page, "#node-search", "rcweb4")
    find(page, "#node-search").send_keys("\ue007")  # enter
    faded = edges()
    find(page, "#only-near").click()
    assert 12 <= edges() < faded
    find(page, "#network-panel .buttons button:last-child").click()
    assert find(page, "#network-panel").text.startswith("72 edges")


def test_views_fit_a_phone(page):
    """Nothing sticks out, and all links of the navigation lie inside the window."""
    show_as(page, 390, 844)
    page.refresh()
    for tab in ("contrasts", "associations", "lists"):
        page.execute_script("document.getElementById(arguments[0]).click()", f"tab-{tab}")
        assert page.execute_script("return document.documentElement.scrollWidth") == 390
    outside = page.execute_script("""
        return [...document.querySelectorAll("nav a:not([hidden]), #theme")]
            .filter((e) => e.getBoundingClientRect().right > 390).length""")
    assert outside == 0
