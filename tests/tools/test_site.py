"""The documentation is built, its links lead somewhere, and a browser shows it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pyrev.ir.diagnostics import CODES
from tests import ROOT
from tests.tools import site

CHROMIUM = site.browser()
needs_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is here")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    for package in ("sphinx", "myst_parser", "furo", "sphinx_design"):
        pytest.importorskip(package, reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    options = ["--fail-on-warning", "--nitpicky", "--keep-going", "--quiet"]
    pages = [str(ROOT / "docs"), str(folder)]
    command = [sys.executable, "-m", "sphinx", *options, *pages]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    yield folder


@pytest.mark.slow
def test_every_link_of_the_site_leads_somewhere(built: Path) -> None:
    assert len([*built.rglob("*.html")]) > 40
    assert site.broken_links(built) == []


@pytest.mark.slow
def test_every_code_of_an_error_is_a_place_to_link_to(built: Path) -> None:
    page = (built / "errors.html").read_text(encoding="utf-8")
    assert [code for code in CODES if f'id="{code}"' not in page] == []


@pytest.mark.slow
@needs_a_browser
def test_pages_say_nothing_on_the_console_and_the_search_finds(built: Path) -> None:
    assert CHROMIUM is not None
    assert site.tried(built, CHROMIUM) == []


def test_links_to_nothing_and_what_is_loaded_from_elsewhere_are_found(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="here">a</h1><a href="#here"></a><a href="b.html#there"></a>'
        '<a href="c.html"></a><a href="https://example.org"></a>'
        '<script src="https://example.org/x.js"></script>'
    )
    (tmp_path / "b.html").write_text("<h1>b</h1>")
    assert site.broken_links(tmp_path) == [
        "a.html: no place b.html#there",
        "a.html: no c.html",
        "a.html loads https://example.org/x.js",
    ]


@needs_a_browser
def test_errors_on_the_console_and_missing_files_are_heard(tmp_path: Path) -> None:
    assert CHROMIUM is not None
    (tmp_path / "a.html").write_text(
        "<h1>a</h1><script>console.error('it is bad')</script>"
        "<script>missing()</script><script src='gone.js'></script>"
        "<script>document.querySelector('h1').textContent = 'b'</script>"
    )
    with site.served(tmp_path) as (root, missed):
        page, said = site.opened(CHROMIUM, f"{root}/a.html")
    assert "<h1>b</h1>" in page
    for text in ("it is bad", "missing is not defined"):
        assert any(text in line for line in said), said
    assert missed == ["/gone.js"]


def test_the_results_of_a_search_are_read() -> None:
    page = (
        '<ul role="list" class="search"><li class="k"><a href="a.html?x#b">a</a></li>'
        '<li><a href="b/c.html">c</a></li></ul></article><li><a href="d.html"></a>'
    )
    assert site.results(page) == ["a.html", "b/c.html"]
    assert site.results("<p>nothing is found</p>") == []
