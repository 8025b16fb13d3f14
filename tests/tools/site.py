"""Does the built documentation work? Its links, its pages in a browser, its search.

    make docs                                  # builds it and asks that
    python -m tests.tools.site build/site [--shots FOLDER]

Every link within the site points at a page and a place that are there, and nothing is
loaded from elsewhere. Where Chromium is installed, it opens pages over HTTP, none of
which may say anything on the console, and searches, over HTTP and from the disk. The
status is 1 where something is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.server
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPENED = (
    *("index", "start", "tutorials/stencil", "tutorials/torch_layer", "howto/threads"),
    *("reference/pyrev", "gallery/index", "gallery/deblur", "errors", "coming_from"),
)
#: What is searched for, and a page that has to be among the results.
SEARCHED = {"checkpoint": "tutorials/time_and_memory.html", "vjp": "reference/pyrev"}
LOADED = {("script", "src"), ("img", "src"), ("link", "href")}


class _Page(HTMLParser):
    """The links of a page, what it loads, and the places that links may point at."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[k] for k in ("id", "name") if k in given}
        for name in ("href", "src"):
            if name in given:
                self.links.append(given[name])
                is_loaded = (tag, name) in LOADED and given.get("rel") != "canonical"
                self.loaded += [given[name]] if is_loaded else []


def broken_links(site: Path) -> list[str]:
    """What points at nothing within the site, or loads something from elsewhere."""
    found = []
    pages = {p.resolve(): _Page(p) for p in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        here = path.relative_to(site.resolve())
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{here} loads {link}")
                continue
            there = (path.parent / unquote(parts.path)) if parts.path else path
            there = there.resolve()
            if not there.is_file():
                found.append(f"{here}: no {link}")
            elif there in pages and unquote(parts.fragment) not in pages[there].places:
                found.append(f"{here}: no place {link}")
    return found


def browser() -> str | None:
    """A Chromium, if there is one."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextlib.contextmanager
def served(site: Path) -> Iterator[tuple[str, list[str]]]:
    """The site over HTTP: its address, and the paths that were asked for in vain."""
    missed: list[str] = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

        def log_error(self, *args: object) -> None:
            if self.path != "/favicon.ico":  # browsers ask for it unasked
                missed.append(self.path)

    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", missed
        finally:
            server.shutdown()
            thread.join()


def opened(
    chromium: str, address: str, *options: str, patience: float = 120
) -> tuple[str, list[str]]:
    """A page as it is when its scripts have run, and what they said on the console."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                *(chromium, "--headless", "--no-sandbox", "--disable-gpu"),
                *("--enable-logging=stderr", "--virtual-time-budget=10000"),
                *("--window-size=1280,1000", f"--user-data-dir={profile}"),
                *(options or ("--dump-dom",)),
                address,
            ],
            capture_output=True,
            text=True,
            timeout=patience,
            check=True,
        )
    return done.stdout, re.findall(r"CONSOLE[:(]\d+\)?\] (.*)", done.stderr)


def results(page: str) -> list[str]:
    """The pages that a search has found."""
    found = re.search(r'<ul[^>]*class="search".*', page, re.DOTALL)
    listed = found[0].partition("</article>")[0] if found else ""
    return re.findall(r'<li[^>]*><a href="([^"?#]+)', listed)


def tried(site: Path, chromium: str) -> list[str]:
    """What a browser finds wrong with the pages and the search."""
    found = []
    with served(site) as (root, missed):
        for name in OPENED:
            page, said = opened(chromium, f"{root}/{name}.html")
            found += [f"{name}: {text}" for text in said]
            if "</h1>" not in page:
                found.append(f"{name}: has no heading")
        for start in (root, site.resolve().as_uri()):
            for word, expected in SEARCHED.items():
                address = f"{start}/search.html?q={word}"
                pages = results(opened(chromium, address)[0])
                if not any(expected in page for page in pages):
                    found.append(f"{address} finds {pages}, not {expected}")
        found += [f"nothing is at {path}" for path in missed]
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Ask all that of a site that was built; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.site")
    parser.add_argument("site", type=Path, help="the folder of the built site")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of the pages")
    options = parser.parse_args(argv)
    found, chromium = broken_links(options.site), browser()
    if chromium is None:
        print(f"skipped: no browser ({', '.join(BROWSERS)}) to open pages and search")
    else:
        found += tried(options.site, chromium)
        if options.shots:
            options.shots.mkdir(parents=True, exist_ok=True)
            with served(options.site) as (root, _):
                for name in (*OPENED, "search"):
                    file = options.shots / f"{name.replace('/', '_')}.png"
                    query = "?q=checkpoint" if name == "search" else ""
                    address = f"{root}/{name}.html{query}"
                    opened(chromium, address, f"--screenshot={file.resolve()}")
    print("\n".join(found) or "every link, page and search is right")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
