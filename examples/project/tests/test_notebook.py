from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted(Path(__file__).parents[1].glob("notebooks/*.ipynb"))


# The kernel's own libraries warn of each other.
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebook_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    nbformat = pytest.importorskip("nbformat")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    kinds = {
        k
        for c in notebook.cells
        for o in c.get("outputs", ())
        for k in o.get("data", ())
    }
    assert {"text/html", "image/png"} <= kinds
