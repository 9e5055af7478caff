"""What is known of a function before it runs: how it is named, and whether it can take what the tests give."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET

from proctor.errors import AgentError, Fault, did_you_mean
from proctor.records.grade import Defect
from proctor.records.suite import Test


class Found(msgspec.Struct, frozen=True):
    """What `function_child.prepare_module` says of a module that it has imported."""

    module: str
    origin: str | None
    names: list[str]
    exists: bool
    callable: bool
    takes_none: bool
    takes_one: bool
    traced: bool = False


def check(found: Found, label: str, tests: Sequence[Test]) -> None:
    """Check that the function is there and takes what these tests give.

    Raises:
        AgentError: with every fault that was found.
    """
    module, _, function = label.rpartition(":")
    if not found.exists:
        near = did_you_mean(function, found.names)
        known = ", ".join(found.names) or "none"
        raise AgentError(
            f"{module} has no function {function!r}.",
            where=label,
            fix=f"Did you mean {near!r}?" if near else f"Name one of its functions: {known}.",
        )
    if not found.callable:
        raise AgentError(
            f"{function!r} in {module} is not a function.",
            where=label,
            fix="Name a function; after the colon stands its name.",
        )
    faults = [fault for test in tests if (fault := _fault_of(found, label, test)) is not None]
    if faults:
        raise AgentError.of(faults)


def parts(target: str) -> tuple[str, str]:
    """The file or module, and the function that a target names; `main` where it names none.

    Raises:
        AgentError: it has none of the forms.
    """
    module, colon, function = target.rpartition(":")
    if not colon or (target.endswith(".py") and not function.isidentifier()):
        module, function = target, "main"
    named = module.endswith(".py") or (colon and all(part.isidentifier() for part in module.split(".")))
    if not named or not function.isidentifier():
        raise AgentError(
            f"{target!r} names no Python function.",
            fix="Write path/agent.py:function, path/agent.py for its main, or package.module:function.",
        )
    return module, function


def unimportable(module: str, defect: Defect, printed: str) -> AgentError:
    """The error for a module whose import raised `defect`, after it had printed this."""
    told = defect.stack.strip() or f"{defect.type}: {defect.message}"
    return AgentError(
        f"Importing {module} raised {defect.type}: {defect.message}",
        where=module,
        fix="\n    ".join(["Make the import work:", *told.splitlines()[-12:], *printed.splitlines()[-12:]]),
    )


def _fault_of(found: Found, label: str, test: Test) -> Fault | None:
    function, where = label.rpartition(":")[2], f"test {test.id!r}"
    if test.input is UNSET and not found.takes_none:
        return Fault(
            f"{label} needs an argument, and the test has no input.",
            where,
            f"Give the test an input, or give {function} no parameter without a default.",
        )
    if test.input is not UNSET and not found.takes_one:
        return Fault(
            f"{label} cannot be called with one argument, and the test has an input.",
            where,
            f"Give {function} exactly one parameter, or take the input out of the test.",
        )
    return None
