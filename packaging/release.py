"""Make a release, step by step; docs/releasing.md says when.

    python packaging/release.py build    # wheel and sdist in dist/, each of them tried
    python packaging/release.py tag      # the annotated tag of this version

`build` needs the extra `release`. Neither uploads nor pushes anything.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A version, and what stands behind it in its headline: when it was released.
HEADLINE = re.compile(r"^## (\S+) \((.+)\)$", re.MULTILINE)


def version(root: Path = ROOT) -> str:
    """What `pyrev.__version__` is, read without importing it."""
    text = (root / "pyrev" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if found is None:
        raise SystemExit("pyrev/__init__.py has no line __version__ = ...")
    return found[1]


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command; what it prints is seen, and its failure is the end."""
    print("+", *command, flush=True)
    if status := subprocess.run(command, cwd=cwd).returncode:
        raise SystemExit(status)


def said(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command prints."""
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} failed")
    return done.stdout


def build() -> None:
    """Make wheel and sdist, check what an index asks of them, and try both."""
    if DIST.is_dir():
        shutil.rmtree(DIST)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    made = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *made)
    for file in made:
        tried(file)
    for file in made:
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        print(f"{file.name}  {file.stat().st_size / 1e6:.1f} MB  sha256 {digest}")
    print(
        "Next, where all of docs/releasing.md is done:\n"
        "    make tag\n"
        f"    git push origin v{version()}\n"
        f"    {sys.executable} -m twine upload dist/*"
    )


def tried(file: Path) -> None:
    """Install the file in an empty environment and run README.md's first example."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        venv.create(work / "venv", with_pip=True)
        programs = work / "venv" / ("Scripts" if os.name == "nt" else "bin")
        python = programs / "python"
        run(python, "-m", "pip", "install", "--quiet", file, cwd=work)
        run(python, "-m", "pip", "check", cwd=work)
        first_example(python, work)
        print(f"{file.name}: the first example of README.md ran", flush=True)


def first_example(python: Path, work: Path) -> None:
    """Run the blocks of README.md's first example where only the package is.

    It must print the adjoint that README.md shows, and end without a warning.
    """
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    function, shown, use = BLOCK.findall(readme)[:3]
    (work / "blur.py").write_text(function + "\n\n" + use, encoding="utf-8")
    os.environ["PYREV_CACHE_DIR"] = str(work / "cache")
    # -P: nothing of pyrev but what was installed.
    printed = said(python, "-P", "-W", "error", "blur.py", cwd=work)
    if printed.strip() != shown.strip():
        raise SystemExit(f"README.md shows another adjoint than\n{printed}")
    there = said(python, "-P", "-c", "import pyrev; print(pyrev.__version__)", cwd=work)
    if there.strip() != version():
        raise SystemExit(f"what was installed is {there.strip()}, not {version()}")


def tag(root: Path = ROOT) -> None:
    """Tag this commit, if its version is told of in CHANGELOG.md and nothing else is
    in the working tree.
    """
    this = version(root)
    if changed := said("git", "status", "--porcelain", cwd=root):
        raise SystemExit(f"the working tree differs from the commit:\n{changed}")
    changes = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = dict(HEADLINE.findall(changes)).get(this)
    if released is None:
        raise SystemExit(f'CHANGELOG.md has no headline "## {this} (the date)"')
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", released):
        raise SystemExit(
            f'CHANGELOG.md says "{released}" of {this}: write the date of today alone'
        )
    name = f"v{this}"
    if said("git", "tag", "--list", name, cwd=root):
        raise SystemExit(f"there is a tag {name} already: raise pyrev.__version__")
    run("git", "tag", "--annotate", name, "--message", f"pyrev {this}", cwd=root)
    print(f"tagged {name}; next: git push origin {name}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=("build", "tag"))
    {"build": build, "tag": tag}[parser.parse_args().step]()
