"""What is said of a release in more than one place is said alike."""

from __future__ import annotations

import configparser
import importlib.util
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

import pyrev
from tests import ROOT

yaml = pytest.importorskip("yaml")

SETUP = configparser.ConfigParser()
SETUP.read(ROOT / "setup.cfg", encoding="utf-8")
METADATA = SETUP["metadata"]
RECIPE = yaml.safe_load((ROOT / "packaging/conda/recipe.yaml").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
#: Extras that no bound was tested of: what they bring takes gigabytes or a GPU, or is
#: a tool, of which the newest is taken.
WITHOUT_BOUNDS = {"cuda", "torch", "jax", "test", "coverage", "docs", "release"}


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def script(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def required(extra: str = "") -> list[Requirement]:
    extras = SETUP["options.extras_require"]
    text = extras[extra] if extra else SETUP["options"]["install_requires"]
    return [Requirement(line) for line in lines(text)]


def bounded() -> dict[str, str]:
    """The lower bounds of setup.cfg, by the names of packages."""
    extras = set(SETUP["options.extras_require"]) - WITHOUT_BOUNDS
    found: dict[str, str] = {}
    for extra in ("", *sorted(extras)):
        for requirement in required(extra):
            (bound,) = requirement.specifier
            assert bound.operator == ">=", f"{requirement} is no lower bound"
            assert found.setdefault(requirement.name, bound.version) == bound.version
    return found


def pinned() -> dict[str, str]:
    """What packaging/oldest.txt installs."""
    pins = (ROOT / "packaging/oldest.txt").read_text().splitlines()
    stated = [Requirement(p) for p in pins if p and not p.startswith("#")]
    return {r.name: str(r.specifier).removeprefix("==") for r in stated}


def test_the_version_is_said_once_and_repeated_alike() -> None:
    assert METADATA["version"] == "attr: pyrev.__version__"
    assert str(Version(pyrev.__version__)) == pyrev.__version__
    assert script("packaging/release.py").version() == pyrev.__version__
    assert CITATION["version"] == pyrev.__version__
    assert RECIPE["context"]["version"] == pyrev.__version__
    assert RECIPE["package"]["version"] == "${{ version }}"


def test_the_newest_changes_are_those_of_this_version_and_day() -> None:
    headlines = script("packaging/release.py").HEADLINE.findall(CHANGES)
    versions = [version for version, _ in headlines]
    assert len(versions) == CHANGES.count("\n## "), "a headline is not understood"
    assert versions[0] == pyrev.__version__
    assert versions == sorted(versions, key=Version, reverse=True)
    if date := re.search(r"\d{4}-\d\d-\d\d", headlines[0][1]):
        assert CITATION["date-released"] == date[0]


def test_the_license_is_one() -> None:
    text = (ROOT / METADATA["license_files"]).read_text()
    assert text.startswith("BSD 3-Clause License\n")
    assert METADATA["author"] in text
    assert RECIPE["about"]["license_file"] == METADATA["license_files"]
    said = (METADATA["license_expression"], RECIPE["about"]["license"])
    assert {*said, CITATION["license"]} == {"BSD-3-Clause"}
    # An index refuses a classifier beside an expression.
    assert "License ::" not in METADATA["classifiers"]


def test_the_addresses_and_the_description_are_one() -> None:
    assert RECIPE["about"]["homepage"] == RECIPE["about"]["repository"]
    assert RECIPE["about"]["homepage"] == METADATA["url"] == CITATION["repository-code"]
    for line in lines(METADATA["project_urls"]):
        address = line.partition(" = ")[2]
        assert address.startswith(METADATA["url"] + "/")
        below = re.search(r"/(?:blob|tree)/main/(.+)", address)
        assert below is None or (ROOT / below[1]).exists()
    assert RECIPE["about"]["summary"] == METADATA["description"]
    assert CITATION["abstract"] == METADATA["description"] + "."


def test_the_pythons_are_those_that_are_tried() -> None:
    classified = re.findall(r":: (3\.\d+)$", METADATA["classifiers"], re.MULTILINE)
    oldest = SpecifierSet(SETUP["options"]["python_requires"])
    assert [v for v in classified if v in oldest] == classified
    assert f">={classified[0]}" == str(oldest)
    minors = [int(v.partition(".")[2]) for v in classified]
    assert minors == [*range(minors[0], minors[-1] + 1)]
    tried = re.search(r"for minor in ([\d ]+);", (ROOT / ".ci/run").read_text())
    made = re.search(r"for v in ([\d. ]+);", (ROOT / "Makefile").read_text())
    assert tried is not None and made is not None
    assert {*map(str, minors)} <= {*tried[1].split()}
    assert made[1].split() == classified[::-1]


def test_the_platforms_are_those_that_have_islpy() -> None:
    (islpy,) = (r for r in required() if r.name == "islpy")
    assert islpy.marker is not None
    assert not islpy.marker.evaluate({"platform_system": "Windows"})
    assert "Windows" not in METADATA["classifiers"]
    for system, classifier in {"Linux": "Linux", "Darwin": "MacOS"}.items():
        assert islpy.marker.evaluate({"platform_system": system})
        assert classifier in METADATA["classifiers"]


def test_the_conda_recipe_asks_for_what_setup_cfg_asks_for() -> None:
    needs = RECIPE["requirements"]
    python = f"python {SETUP['options']['python_requires']}"
    wanted = {f"{r.name} {r.specifier}" for r in required()}
    assert sorted(needs["run"]) == sorted({*wanted, python})
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (backend,) = map(Requirement, project["build-system"]["requires"])
    assert needs["host"] == [python, "pip", f"{backend.name} {backend.specifier}"]


def test_every_lower_bound_is_the_version_with_which_tests_run() -> None:
    bounds, pins = bounded(), pinned()
    assert pins.keys() - bounds.keys() == {"numcodecs"}  # zarr's, as the file says
    for name, bound in bounds.items():
        assert Version(pins[name]) == Version(bound), name
    assert "packaging/oldest.txt" in (ROOT / ".ci/run").read_text()


# ------------------------------------------------ README.md where an index shows it


@pytest.fixture(scope="module")
def setup() -> ModuleType:
    pytest.importorskip("setuptools")
    return script("setup.py")


def test_relative_links_become_addresses_at_the_tag_and_nothing_else(
    setup: ModuleType,
) -> None:
    text = (
        "![A picture](docs/a.png) [page](docs/b.md#part) [far](https://c.d/e) [x](#y)\n"
        "```python\nf[i](x)\n```\n[z](q)\n"
    )
    assert setup.absolute(text, "https://h", "1.2") == (
        "![A picture](https://h/raw/v1.2/docs/a.png)"
        " [page](https://h/blob/v1.2/docs/b.md#part) [far](https://c.d/e) [x](#y)\n"
        "```python\nf[i](x)\n```\n[z](https://h/blob/v1.2/q)\n"
    )


def test_the_pictures_of_the_readme_are_seen_on_an_index(setup: ModuleType) -> None:
    readme, shown = (ROOT / "README.md").read_text(encoding="utf-8"), setup.described()
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", readme)
    assert pictures
    assert re.findall(r"!\[[^\]]*\]\(([^)]+)\)", shown) == [
        f"{METADATA['url']}/raw/v{pyrev.__version__}/{p}" for p in pictures
    ]
    assert "long_description" not in METADATA  # it would be the one that counts


# ------------------------------------------------------------------ the files


@pytest.mark.slow
def test_the_sdist_has_all_that_the_repository_has(tmp_path: Path) -> None:
    pytest.importorskip("build")
    # What was not added yet, too, and nothing that is ignored.
    ask = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(ask, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no git repository")
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation", str(ROOT)]
    subprocess.run([*command, "--outdir", str(tmp_path)], check=True)
    (made,) = tmp_path.iterdir()
    with tarfile.open(made) as archive:
        names = {m.name.partition("/")[2] for m in archive if m.isfile()}
        information = archive.extractfile(f"{made.name[:-7]}/PKG-INFO")
        assert information is not None
        text = information.read().decode()
    here = {name for name in listed.stdout.split("\n") if (ROOT / name).is_file()}
    assert here - names == {".gitignore"}
    assert {n for n in names - here if "egg-info/" not in n} == {"PKG-INFO"}
    assert "\nLicense-Expression: BSD-3-Clause\n" in text
    assert f"{METADATA['url']}/raw/v{pyrev.__version__}/docs/" in text


# ------------------------------------------------------------------ the tag


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository of a version 1.5 that may be tagged."""
    (tmp_path / "pyrev").mkdir()
    (tmp_path / "pyrev" / "__init__.py").write_text('__version__ = "1.5"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.5 (2031-01-02)\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "somebody")
    git(tmp_path, "config", "user.email", "somebody@example.org")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a step")


def test_a_version_whose_changes_are_told_of_is_tagged(repository: Path) -> None:
    script("packaging/release.py").tag(repository)
    assert git(repository, "cat-file", "-t", "v1.5") == "tag"  # an annotated one
    assert git(repository, "tag", "-n", "--list", "v1.5").split() == [
        *("v1.5", "pyrev", "1.5")
    ]
    with pytest.raises(SystemExit, match="there is a tag v1.5 already"):
        script("packaging/release.py").tag(repository)


@pytest.mark.parametrize(
    ("changes", "committed", "said"),
    [
        ("## 1.5 (2031-01-02)\n\n- more\n", False, "working tree differs.*CHANGELOG"),
        ("## 1.4 (2030-01-02)\n", True, 'no headline "## 1.5'),
        ("## 1.5 (unreleased, 2031-01-02)\n", True, '"unreleased, 2031-01-02" of 1.5'),
    ],
)
def test_a_tag_is_refused(
    changes: str, committed: bool, said: str, repository: Path
) -> None:
    (repository / "CHANGELOG.md").write_text(changes)
    if committed:
        commit(repository)
    with pytest.raises(SystemExit, match=f"(?s){said}"):
        script("packaging/release.py").tag(repository)
    assert git(repository, "tag") == ""


def test_another_file_in_the_working_tree_refuses_a_tag(repository: Path) -> None:
    (repository / "notes.txt").write_text("")
    with pytest.raises(SystemExit, match="(?s)working tree differs.*notes.txt"):
        script("packaging/release.py").tag(repository)


@pytest.mark.slow
def test_what_a_release_is_tried_with_is_the_first_example_of_the_readme(
    tmp_path: Path,
) -> None:
    release: Any = script("packaging/release.py")
    # Here with what the tests run on: that it is installed is not what is asked.
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    release.first_example(python, tmp_path)
    assert "check_grad" in (tmp_path / "blur.py").read_text()
    shown = (ROOT / "README.md").read_text(encoding="utf-8")
    release.ROOT = tmp_path
    (tmp_path / "README.md").write_text(shown.replace("gather: u = y + j", "gather"))
    with pytest.raises(SystemExit, match="README.md shows another adjoint"):
        release.first_example(python, tmp_path)
