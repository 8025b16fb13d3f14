"""The corpora on the CUDA target, executed on the CPU: right where the CPU is right.

Values, mutation and gradients are judged against the undecorated function; threads that
race, subscripts that leave an array and kernels that NVIDIA's compiler refuses are
wrong, whatever comes out. A day runs half of the conformance suite and a share of the
corpus and of the further forms (a thread for each owner, no atomics), and all with
`PYREV_FULL=1`.
"""

from __future__ import annotations

import pytest

from tests.targets.cuda import needs
from tests.targets.cuda.suite import NAMES, right


@pytest.mark.slow
@needs.compiler
@pytest.mark.parametrize("name", NAMES[::2])
def test_on_the_cpu_it_is_right(name: str) -> None:
    right(name)


@needs.compiler
def test_a_copy_of_a_thread_s_own_array_is_of_its_own_elements() -> None:
    right("own_start_values")
