"""What setup.cfg can't say: README.md as an index of packages shows it.

An index resolves no relative links, so there they are addresses of this version.
"""

from __future__ import annotations

import configparser
import re
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent


def absolute(text: str, home: str, version: str) -> str:
    """The Markdown with its relative links as addresses below `home`, at the tag of
    `version`; what stands in fences is kept.
    """

    def link(found: re.Match[str]) -> str:
        mark, label, target = found.groups()
        kind = "raw" if mark else "blob"
        return f"{mark}[{label}]({home}/{kind}/v{version}/{target})"

    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [
        re.sub(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)]+)\)", link, part)
        for part in parts[::2]
    ]
    return "".join(parts)


def described() -> str:
    """README.md with the address of setup.cfg and the version of the package."""
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(ROOT / "setup.cfg", encoding="utf-8")
    package = (ROOT / "pyrev" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', package, re.MULTILINE)
    assert found is not None
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return absolute(readme, settings["metadata"]["url"], found[1])


if __name__ == "__main__":
    setup(
        long_description=described(),
        long_description_content_type="text/markdown",
    )
