"""A chromium without a window, for the tests of the report and its pictures."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",  # no smooth scrolling while a test wants to click
)


def open_browser(folder: Path) -> Any:
    """A driver with an empty profile; it logs console and requests, downloads go to `folder`."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    binary, service = shutil.which("chromium"), shutil.which("chromedriver")
    if binary is None or service is None:
        raise RuntimeError("needs chromium and chromedriver: apt-get install chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(service))
    behaviour = {"behavior": "allow", "downloadPath": str(folder / "downloads")}
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", behaviour)
    return driver


def show_as(driver: Any, width: int, height: int, *, scheme: str = "light") -> None:
    """The size of the window and what the system says about colours."""
    phone = width < 600
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
