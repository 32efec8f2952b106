"""One version, one list of dependencies, in every file that says them."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import contents
import pytest

from rcweb import __version__

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
# What conda-forge calls them: without the parts that nobody needs to import them.
CONDA = {"matplotlib": "matplotlib-base", "dask[array]": "dask-core"}
IN_CONDA = ("cli", "plot")  # extras that the conda package installs


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@pytest.fixture(scope="module")
def recipe() -> Any:
    return yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def citation() -> Any:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


def in_conda(lines: list[str]) -> list[str]:
    parts = [line.partition(">=") for line in lines]
    return [f"{CONDA.get(name, name)} >={bound}" for name, _, bound in parts]


def test_the_recipe_has_the_dependencies_of_the_package(project, recipe) -> None:
    extras = project["project"]["optional-dependencies"]
    python = project["project"]["requires-python"]
    assert python == f">={recipe['context']['python_min']}"
    core = in_conda(project["project"]["dependencies"])
    included = [line for name in IN_CONDA for line in in_conda(extras[name])]
    needs = recipe["requirements"]
    assert needs["run"] == ["python >=${{ python_min }}", *core, *included]
    others = [name for name in extras if name not in (*IN_CONDA, "all", "bench", "docs", "dev")]
    assert needs["run_constraints"] == [x for name in others for x in in_conda(extras[name])]
    backend = in_conda(project["build-system"]["requires"])
    assert needs["host"] == ["python ${{ python_min }}.*", "pip", *backend]


def test_the_recipe_installs_the_command(project, recipe) -> None:
    entries = [f"{name} = {call}" for name, call in project["project"]["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == entries
    assert recipe["build"]["noarch"] == "python"
    assert recipe["about"]["license"] == project["project"]["license"]


def test_one_version(recipe, citation) -> None:
    assert recipe["context"]["version"] == __version__
    assert citation["version"] == __version__


def test_the_citation_has_what_its_format_asks_for(project, citation) -> None:
    """The whole schema is checked by ``nox -s dist``, with cffconvert."""
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == project["project"]["license"]
    paper = citation["preferred-citation"]
    assert {"type", "title", "authors", "year"} <= set(paper)
    assert paper["type"] == "conference-paper"


def test_names_on_the_page_of_versions_exist() -> None:
    """A promise about a name that is gone would be a broken one."""
    text = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    names = re.findall(r"`(rcweb\.[a-zA-Z_.]+[a-zA-Z_])`", text)
    assert names
    for name in names:
        home, _, last = name.rpartition(".")
        assert hasattr(import_module(home), last) or import_module(name), name


def test_the_changelog_has_this_version() -> None:
    """A development version is listed under the release it will be."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+\.\d+)(?: \((.+)\))?$", text, flags=re.MULTILINE)
    version, _, development = __version__.partition(".dev")
    assert released[0][0] == version
    assert (released[0][1] == "unreleased") == bool(development)


def test_what_is_in_a_wheel_and_an_archive() -> None:
    """The checks of ``nox -s dist`` find what they should."""
    known = {"src/rcweb/__init__.py", "src/rcweb/py.typed", "tests/test_a.py", "LICENSE"}
    info = "rcweb-1.dist-info/"
    whole = ["rcweb/__init__.py", "rcweb/py.typed", f"{info}licenses/LICENSE", f"{info}METADATA"]
    assert contents.wrong_in_wheel(whole, known) == []
    assert contents.wrong_in_wheel(whole[1:], known) == ["rcweb/__init__.py is missing"]
    assert contents.wrong_in_wheel([*whole, "rcweb/secret.csv"], known) == [
        "rcweb/secret.csv is not in the repository",
        "rcweb/secret.csv is of an unexpected kind",
    ]
    assert contents.wrong_in_wheel(whole[:2], known) == ["the licence is missing"]
    archive = [f"rcweb-1/{name}" for name in (*known, "PKG-INFO")]
    assert contents.wrong_in_archive(archive, known) == []
    assert contents.wrong_in_archive([*archive, "rcweb-1/notes.txt"], known) == [
        "notes.txt is not in the repository"
    ]


def test_every_table_in_the_package_is_listed() -> None:
    """A table that someone adds to the package would be released with it."""
    package = ROOT / "src"
    tables = {path.relative_to(package).as_posix() for path in package.rglob("*.csv")}
    assert tables == contents.TABLES
