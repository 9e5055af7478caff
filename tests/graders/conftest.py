"""A run view to grade."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from proctor.ports import RunView
from proctor.records.run import Ending, Record
from proctor.records.suite import Test


@pytest.fixture
def view(tmp_path: Path) -> Callable[..., RunView]:
    """Make the view of a run with this output; what else is given goes into the test."""

    def make(output: Any = None, **fields: Any) -> RunView:
        return RunView(
            output=output,
            test=Test(id="t", **fields),
            workdir=tmp_path,
            record=Record(ending=Ending.OK),
            judge=lambda **_: None,
            base=tmp_path,
        )

    return make
