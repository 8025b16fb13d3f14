"""The bugs that are put back on purpose are edits of today's sources.

Whether the tests notice them takes minutes: `python -m tests.tools.relapses` says.
"""

from __future__ import annotations

import ast
from collections import Counter

import pytest

from tests.tools.relapses import RELAPSES, ROOT, Relapse


@pytest.mark.parametrize("relapse", RELAPSES, ids=lambda r: f"{r.kind}: {r.bug}")
def test_a_relapse_is_an_edit_of_a_file_that_still_parses(relapse: Relapse) -> None:
    text = (ROOT / relapse.file).read_text()
    changed = relapse.applied(text)
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
    assert all((ROOT / t).exists() for t in relapse.tests.split())


def test_each_class_has_six_relapses() -> None:
    assert min(Counter(r.kind for r in RELAPSES).values()) >= 6
