"""A project that uses pyrev is set up as its README says, with pyrev as a wheel."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

import pyrev
from tests import ROOT
from tests.test_readme import BLOCK
from tests.turns import full_size

yaml = pytest.importorskip("yaml")

PROJECT = ROOT / "examples" / "project"
README = PROJECT / "README.md"
WORKFLOW = yaml.safe_load((PROJECT / ".github/workflows/tests.yml").read_text())
JOB = WORKFLOW["jobs"]["tests"]
#: What its own CI does, step by step.
COMMANDS = {s["name"]: s["run"] for s in JOB["steps"] if "run" in s}
#: What the notebook needs to run.
NOTEBOOK = ("nbclient", "ipykernel", "matplotlib")
#: pip installs nothing but what is given, and builds with what is there.
OFFLINE = {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}


def test_the_readme_shows_the_model_and_its_adjoint(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(PROJECT / "src"))
    from flowline import model

    page = README.read_text(encoding="utf-8")
    function, shown = BLOCK.findall(page)
    assert function in (PROJECT / "src/flowline/model.py").read_text()
    text = model.surface_speed.adjoint.source
    if request.config.getoption("--update-golden"):
        README.write_text(page.replace(shown, text.strip() + "\n"), encoding="utf-8")
        shown = text
    assert text.strip() == shown.strip()


def test_the_ci_of_the_project_does_what_its_readme_says() -> None:
    said = re.search(r"```sh\n(.*?)```", README.read_text(), re.DOTALL)
    assert said is not None
    lines = [line.partition("  ")[0] for line in said[1].splitlines()]
    done = "\n".join(COMMANDS.values())
    assert [line for line in lines if line not in done] == []


def test_the_project_asks_for_this_pyrev_and_its_pythons() -> None:
    from packaging.requirements import Requirement

    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    needs = {r.name: r for r in map(Requirement, project["dependencies"])}
    assert needs.keys() == {"numpy", "pyrev", "scipy"}
    assert pyrev.__version__ in needs["pyrev"].specifier
    setup = (ROOT / "setup.cfg").read_text()
    pythons = re.findall(r"Python :: (3\.\d+)$", setup, re.MULTILINE)
    assert JOB["strategy"]["matrix"]["python"] == pythons


@pytest.mark.slow
@pytest.mark.parametrize(
    "libraries", ["of these tests", pytest.param("of an index", marks=full_size)]
)
def test_the_project_works_in_an_environment_of_its_own(
    libraries: str, tmp_path: Path
) -> None:
    offline = libraries == "of these tests"
    complete = not offline or all(map(importlib.util.find_spec, NOTEBOOK))
    project = tmp_path / "project"
    left = shutil.ignore_patterns("__pycache__", ".*_cache", "build", "*.egg-info")
    shutil.copytree(PROJECT, project, ignore=left)
    variables = environment(tmp_path / "venv", offline)

    def run(command: str) -> str:
        done = subprocess.run(
            command, shell=True, cwd=project, env=variables, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        return done.stdout

    wheel = built(tmp_path / "dist")
    run(f'python -m pip install --ignore-installed --no-deps "{wheel}"')
    run(COMMANDS["Install"] if complete else "python -m pip install .")
    where = run("python -c 'import pyrev, flowline; print(pyrev, flowline)'")
    assert where.count(str(tmp_path / "venv")) == 2
    said = README.read_text(encoding="utf-8")
    show, explain = re.findall(r"`(python -m pyrev [^`]+)`", said)
    assert "def flow_adjoint(bed, thickness," in run(show)
    assert "adjoint of flow, " in run(explain)
    # The notebook may be skipped where there is nothing to run it.
    assert ("SKIPPED" in run(COMMANDS["Test"])) != complete
    off = re.findall(r"wrong by (\d+ m)", run(COMMANDS["Find a bed"]))
    figures = r"by (\d+ m) \(root mean square\).* by (\d+ m)"
    assert re.findall(figures, said) == [tuple(off)]


def environment(folder: Path, offline: bool) -> dict[str, str]:
    """Make a virtual environment; the variables with which commands use it.

    Offline it has the libraries of these tests, behind its own packages: an editable
    pyrev there is not seen.
    """
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    if offline:
        paths = {"base": str(folder), "platbase": str(folder)}
        packages = Path(sysconfig.get_path("purelib", "venv", paths))
        (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    ours = {k: v for k, v in os.environ.items() if k[:6] not in ("PYTHON", "PYREV_")}
    return {
        **ours,
        **(OFFLINE if offline else {}),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYREV_CACHE_DIR": str(folder / "cache"),
    }


def built(folder: Path) -> Path:
    """The wheel of pyrev, from its sdist: nothing is in it that an older build left."""
    pytest.importorskip("build")
    command = [sys.executable, "-m", "build", "--no-isolation", str(ROOT)]
    said = subprocess.DEVNULL
    subprocess.run([*command, "--outdir", str(folder)], check=True, stdout=said)
    (wheel,) = folder.glob("*.whl")
    return wheel
