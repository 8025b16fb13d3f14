from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyrev
from tests import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[str]:
    return BLOCK.findall(README.read_text())


@pytest.fixture(scope="module")
def namespace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("readme")
    names: dict[str, Any] = {"__name__": "readme"}
    for number, text in enumerate(blocks()):
        path = folder / ("blur.py" if number == 0 else f"block_{number}.py")
        path.write_text(text)
        exec(compile(text, str(path), "exec"), names)
    yield names


def test_every_block_of_the_readme_runs(namespace: dict[str, Any]) -> None:
    assert len(blocks()) == 6
    assert namespace["report"].ok


def test_the_readme_shows_the_adjoint_that_is_generated(
    namespace: dict[str, Any],
) -> None:
    shown = blocks()[1]
    assert shown.strip() == namespace["blur"].adjoint.source.strip()
    assert len(shown.splitlines()) <= 40


def test_the_adjoint_in_the_readme_gives_the_gradients(
    namespace: dict[str, Any],
) -> None:
    image, kernel = namespace["image"][:9, :8], namespace["kernel"]
    d_out = np.arange(20.0).reshape(5, 4)
    found = namespace["blur_adjoint"](image, kernel, np.zeros((5, 4)), d_out)
    _, pullback = namespace["pyrev"].vjp(
        namespace["blur"], image, kernel, np.zeros((5, 4))
    )
    for text, compiled in zip(found, pullback(out=d_out).values(), strict=True):
        np.testing.assert_allclose(text, compiled, rtol=1e-13)


def test_the_readme_shows_the_refusal_that_is_raised(tmp_path: Path) -> None:
    (source,) = re.findall(r"^```py\n(.*?)^```$", README.read_text(), re.M | re.S)
    (shown,) = re.findall(r"^```\n(settle.*?)^```$", README.read_text(), re.M | re.S)
    path = tmp_path / "settle.py"
    path.write_text(source)
    names: dict[str, Any] = {}
    exec(compile(source, str(path), "exec"), names)
    with pytest.raises(pyrev.UnsupportedError) as refused:
        pyrev.differentiable(names["settle"])
    assert str(refused.value).replace(f"{tmp_path}/", "").strip() == shown.strip()


def test_the_readme_names_the_commands_that_the_makefile_has() -> None:
    makefile = README.with_name("Makefile").read_text()
    commands = re.findall(r"^make (\w+)", README.read_text(), re.MULTILINE)
    assert commands == ["deblur", "test"]
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)
