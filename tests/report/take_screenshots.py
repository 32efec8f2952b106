"""Pictures of a report for the documentation: take_screenshots.py REPORT.html FOLDER."""

from __future__ import annotations

import io
import json
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from PIL import Image
from report_browser import open_browser, show_as

LAPTOP, TALL, PHONE = (1280, 800), (1280, 1240), (390, 844)


def settle(driver: Any) -> None:
    time.sleep(0.8)
    driver.execute_script("document.activeElement.blur()")


def scroll_to(driver: Any, element: str) -> None:
    driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", element)


def telling_gene(report: Path) -> str:
    """The address of the variable that is explained best among those with three regulators."""
    text = report.read_text(encoding="utf-8")
    found = re.search(r'type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    data = json.loads(found[1]) if found else {"genes": [], "regulators": []}
    degree = Counter(gene for r in data["regulators"] for gene in r["targets"])
    several = [gene for gene, n in degree.items() if n >= 3]
    if not several or not data["gene_explained"]:
        return ""
    best = max(several, key=lambda gene: data["gene_explained"][gene] or 0.0)
    return f"#gene={data['genes'][best]}"


def save_small(png: bytes, path: Path) -> None:
    """A palette is enough for a page and saves half of the bytes; the octree keeps rare colours."""
    image = Image.open(io.BytesIO(png)).convert("RGB")
    image.quantize(256, method=Image.Quantize.FASTOCTREE).save(path, optimize=True)


def main(report: Path, folder: Path) -> None:
    """Summary, regulator, variable, analyses and network; some of it dark and on a phone."""
    with tempfile.TemporaryDirectory() as profile:
        driver = open_browser(Path(profile))
        for name, size, scheme, address, place in (
            ("report", LAPTOP, "light", "", "main"),
            ("report-regulator", TALL, "light", "", "regulators"),
            ("report-gene", LAPTOP, "light", telling_gene(report), "regulators"),
            ("report-contrasts", LAPTOP, "light", "#contrasts", "analyses"),
            ("report-associations", LAPTOP, "light", "#associations", "analyses"),
            ("report-network", LAPTOP, "light", "", "network"),
            ("report-network-dark", LAPTOP, "dark", "", "network"),
            ("report-phone", PHONE, "light", "", "detail"),
            ("report-phone-dark", PHONE, "dark", "", "main"),
        ):
            show_as(driver, *size, scheme=scheme)
            # Another page first: an address that differs in its end alone loads nothing.
            driver.get("about:blank")
            driver.get(report.resolve().as_uri() + address)
            settle(driver)
            if not driver.find_element("id", place).is_displayed():
                continue  # a result without analyses
            scroll_to(driver, place)
            settle(driver)
            save_small(driver.get_screenshot_as_png(), folder / f"{name}.png")
        driver.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
