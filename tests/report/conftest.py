"""Models to report on, and a browser to look at the pages."""

from __future__ import annotations

import pandas as pd
import pytest
from report_browser import open_browser
from report_examples import fitted


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
    """One chromium for all tests of a module; `downloads` is where it saves files."""
    folder = tmp_path_factory.mktemp("browser")
    driver = open_browser(folder)
    driver.downloads = folder / "downloads"
    yield driver
    driver.quit()
