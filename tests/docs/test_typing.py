"""The contract of outcome scripts, as a type checker in strict mode sees it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.docs.conftest import Checked
from tests.docs.typing_cases import CASES, SAID


@pytest.mark.parametrize("case", [name for name in CASES if name.startswith("accepted")])
def test_a_typed_outcome_script_is_accepted(type_checked: Mapping[str, Checked], case: str) -> None:
    """Without a complaint, `def` or `async def`."""
    assert () == type_checked[case].found


@pytest.mark.parametrize("case", SAID)
def test_a_mistake_in_an_outcome_script_is_refused(type_checked: Mapping[str, Checked], case: str) -> None:
    """A misspelt outcome or field, and a `grade` that takes or gives something else."""
    assert any(SAID[case] in one.message for one in type_checked[case].found), type_checked[case].found
