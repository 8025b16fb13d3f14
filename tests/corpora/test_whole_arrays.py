"""A share of both corpora as statements about whole arrays."""

from __future__ import annotations

import pytest

from tests.corpora.everything import EVERY
from tests.tools.whole_arrays import judged
from tests.turns import share_of


@pytest.mark.slow
@pytest.mark.parametrize("name", share_of(EVERY, 32))
def test_a_text_about_whole_arrays_is_right_or_refused(name: str) -> None:
    assert [v for v in judged(name) if v.is_ == "wrong"] == []
