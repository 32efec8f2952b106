"""A chromium without a window, for the tests of the report and its pictures."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
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


def find(driver: Any, css: str) -> Any:
    return driver.find_element("css selector", css)


def texts(driver: Any, css: str) -> list[str]:
    return [element.text for element in driver.find_elements("css selector", css)]


def wait_for(condition: Callable[[], Any], what: str, seconds: float = 300.0) -> Any:
    """What the condition gives once it is true; an element that the page replaced between finding
    and reading it says nothing yet."""
    from selenium.common.exceptions import StaleElementReferenceException

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with suppress(StaleElementReferenceException):
            if value := condition():
                return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


def type_into(driver: Any, css: str, text: str) -> None:
    field = find(driver, css)
    field.clear()
    field.send_keys(text)


def set_slider(driver: Any, css: str, value: float) -> None:
    script = """
        const slider = document.querySelector(arguments[0]);
        slider.value = arguments[1];
        slider.dispatchEvent(new Event("input", { bubbles: true }));"""
    driver.execute_script(script, css, value)


def click_at(driver: Any, element: Any, x: float, y: float) -> None:
    """Click at an offset from the middle of the element."""
    from selenium.webdriver import ActionChains

    ActionChains(driver).move_to_element_with_offset(element, int(x), int(y)).click().perform()


def problems(driver: Any) -> list[Any]:
    return [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def requests(driver: Any) -> list[str]:
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def open_afresh(driver: Any, path: Path) -> None:
    """Open a page at laptop width, as if nobody had used this browser before."""
    show_as(driver, 1366, 850)
    driver.get(path.as_uri())
    driver.execute_script("localStorage.clear()")
    driver.get("about:blank")
    driver.get_log("browser")
    driver.get_log("performance")
    driver.get(path.as_uri())
