"""The process that a typed suite is loaded in: it runs the suite's code, and says what the suite is."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.errors import Fault, ProctorError
from proctor.eval.suite import EvalSuite, digest_of_suite
from proctor.records.suite import Test
from proctor.records.suite_codes import SuiteCode

MEMORY_BYTES: Final = 4 * 1024**3


class TypedCase(msgspec.Struct, frozen=True):
    """A case, and the line that it stands on."""

    test: Test
    line: int


class TypedSuite(msgspec.Struct, frozen=True, kw_only=True):
    """What a suite's file gave: a suite, or what is wrong with it.

    Attributes:
        name: of the suite.
        digest: of its name and of what its cases say.
        cases: in their order.
        suspects: what looks like a credential: path, kind, and place.
        faults: what is wrong: what, where, fix.
    """

    name: str = ""
    digest: str = ""
    cases: tuple[TypedCase, ...] = ()
    suspects: tuple[tuple[str, str, str], ...] = ()
    faults: tuple[tuple[str, str, str], ...] = ()


def main(file: str, reply: str) -> None:
    """Load the suite in `file`, and write a `TypedSuite` as JSON to `reply`."""
    if sys.platform == "linux":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, most))
    Path(reply).write_bytes(msgspec.json.encode(_loaded(Path(file))))


def _loaded(path: Path) -> TypedSuite:
    try:
        suite: Any = _suite_of(path)
    except ProctorError as error:
        return TypedSuite(faults=tuple((fault.what, fault.where, fault.fix) for fault in error.faults))
    except BaseException as error:  # noqa: BLE001  # around a suite, which may raise or exit as it likes
        fault = _failed(error, path)
        return TypedSuite(faults=((fault.what, fault.where, fault.fix),))
    if suite is None:
        what = "the file does not define `suite`"
    elif not isinstance(suite, EvalSuite):
        what = f"`suite` is {type(suite).__name__}, which `define_eval_suite` did not make"
    elif suite.digest != digest_of_suite(suite.name, suite.cases):
        what = "`suite` is not what `define_eval_suite` made: it was changed afterwards"
    else:
        cases = tuple(TypedCase(checked.test, checked.line) for checked in suite.cases)
        return TypedSuite(name=suite.name, digest=suite.digest, cases=cases, suspects=suite.suspects)
    fix = "Write suite = define_eval_suite(name=..., cases=[...])."
    return TypedSuite(faults=((f"{SuiteCode.EXPORT_INVALID.value}  {what}", str(path), fix),))


def _suite_of(path: Path) -> Any:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return getattr(module, "suite", None)


def _failed(error: BaseException, path: Path) -> Fault:
    """What the suite's code raised, at the deepest line of it."""
    line, file = 0, path
    if isinstance(error, SyntaxError) and error.filename:
        line, file = error.lineno or 0, Path(error.filename)
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if Path(frame.filename).is_relative_to(path.parent):
                line, file = frame.lineno or 0, Path(frame.filename)
    try:
        message = str(error.msg if isinstance(error, SyntaxError) else error)
    except Exception as broken:  # noqa: BLE001  # its message is code of the suite, too
        message = f"(its message raised {type(broken).__name__})"
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return Fault(
        f"{SuiteCode.LOAD_FAILED.value}  the suite cannot be loaded: {said}",
        f"{file}:{line}" if line else str(file),
        "Mend the file; loading it runs it, in a process of its own.",
    )
