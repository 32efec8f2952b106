"""Models to report on, and a browser to look at the pages."""

from __future__ import annotations

import shutil

import pandas as pd
import pytest
from report_examples import fitted

BROWSER_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",  # no smooth scrolling while a test wants to click
)


@pytest.fixture
def model():
    return fitted()


@pytest.fixture
def known_table():
    """Regulators 0 and 1 fit the same known one, regulator 2 fits by no more than chance."""
    return pd.DataFrame(
        {
            "regulator": ["rcweb0", "rcweb1", "rcweb1", "rcweb2"],
            "set": ["Fur", "Fur", "Crp", "Zur"],
            "description": ["iron", "iron", "sugar", "zinc"],
            "overlap": [3, 9, 2, 1],
            "set_size": [10, 10, 30, 20],
            "p": [1e-5, 1e-12, 1e-3, 0.4],
            "q": [1e-4, 1e-11, 1e-2, 0.9],
        }
    )


@pytest.fixture
def term_table():
    return pd.DataFrame(
        {
            "regulator": ["rcweb0", "rcweb0"],
            "set": ["GO:2", "GO:1"],
            "description": ["transport", "iron uptake"],
            "overlap": [2, 4],
            "p": [1e-3, 1e-6],
            "leading": ["gene1, gene2", "gene3"],
        }
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Chromium without a window; it logs its console and every request, and saves downloads."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    binary, service = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or service is None:
        pytest.fail("browser tests need chromium and chromedriver: apt-get install chromium-driver")
    folder = tmp_path_factory.mktemp("browser")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*BROWSER_FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(service))
    downloads = folder / "downloads"
    driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)}
    )
    driver.downloads = downloads
    yield driver
    driver.quit()
