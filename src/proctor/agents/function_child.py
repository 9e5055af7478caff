"""What runs beside the user's function: imports its module, calls it, and writes down what it returned.

This is the one place of the agents that catches everything; what is caught is the user's. Only the standard
library is imported, and little of it: a user's module finds an almost clean interpreter.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from proctor.agents.plain import NotJson, Plain

_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120


def prepare_module(source: dict[str, Any]) -> dict[str, Any]:
    """Import the user's module, and say what was found.

    `source` has `file` or `module`, `function`, and `path`: folders that go first on the import path.
    Returns `module` (its name in `sys.modules`), `origin`, `names` (public callables), `exists`, `callable`,
    `takes_none`, `takes_one`, `traced` (the import has set up OpenTelemetry); or `defect`, when it raised.
    """
    import random

    sys.path[:0] = source["path"]
    sys.argv = [source["file"] or source["module"]]
    random.random()
    fresh = random.getstate()
    try:
        module = _import(source["file"], source["module"])
    except BaseException as err:  # noqa: BLE001  the user's module may raise anything, SystemExit too
        return {"defect": defect_of(err)}
    state = random.getstate()
    # Python seeds anew in every fork, which a module that has seeded when it was imported does not want. The
    # last number is a position, which moves when somebody only draws.
    if state[1][:-1] != fresh[1][:-1]:
        os.register_at_fork(after_in_child=lambda: random.setstate(state))
    named = {"module": module.__name__, "origin": getattr(module, "__file__", None)}
    return named | _described(module, source["function"]) | {"traced": _is_traced()}


def run_trial(request: dict[str, Any], descriptors: list[int]) -> int:
    """Call the function once and write its result; entry of a forked child.

    `request` has `module`, `function`, `input` (path, or None), `is_text`, and `result`: the path to write.
    """
    del descriptors
    owner = os.getpid()
    try:
        outcome = _outcome_of(getattr(sys.modules[request["module"]], request["function"]), request)
    except BaseException as err:  # noqa: BLE001  the user's function may raise anything, SystemExit too
        outcome = {"defect": defect_of(err)}
    if os.getpid() != owner:
        # The function forked, and this is its child, which came back as well.
        return 0
    _write_whole(request["result"], json.dumps(outcome).encode())
    _send_spans()
    return 0


def run_fresh(asked: str) -> None:
    """Import the module and call the function once; entry of an interpreter that does nothing else."""
    sources = json.loads(asked)
    # Imported where the user stands, as for a fork, and called in the workdir.
    os.chdir(sources["launch_dir"])
    found = prepare_module(sources["source"])
    request = sources["request"]
    os.chdir(sources["workdir"])
    if "defect" in found:
        _write_whole(request["result"], json.dumps(found).encode())
        return
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    run_trial(request | {"module": found["module"]}, [])
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    # As in a fork: a thread that the module started must not hold the trial.
    os._exit(0)


def _send_spans() -> None:
    """Send what is held of the trace: this process ends without its exit functions, which would do it."""
    if (ours := sys.modules.get("proctor.trace")) is not None:
        ours.flush()
    if (api := sys.modules.get("opentelemetry.trace")) is not None:
        flush = getattr(api.get_tracer_provider(), "force_flush", None)
        if flush is not None:
            try:
                flush(5000)
            except Exception:  # noqa: BLE001  whatever the user's exporter does, the trial has its result
                return


def defect_of(err: BaseException) -> dict[str, str]:
    """Type, message and the user's part of the stack."""
    import traceback

    told = traceback.TracebackException.from_exception(err, limit=-50)
    _leave_out_our_frames(told)
    message = without_surrogates(str(err))
    return {
        "type": type(err).__name__,
        "message": message or f"{type(err).__name__} without a message",
        "stack": without_surrogates("".join(told.format())),
    }


def _is_traced() -> bool:
    """True when somebody has set a provider of OpenTelemetry's that holds exporters."""
    api = sys.modules.get("opentelemetry.trace")
    return api is not None and getattr(api, "_TRACER_PROVIDER", None) is not None


def without_surrogates(text: str) -> str:
    """The text as UTF-8 can hold it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _leave_out_our_frames(told: Any) -> None:
    kept = [
        frame
        for frame in told.stack
        if not frame.filename.startswith((_OURS, "<frozen importlib", "<frozen runpy"))
    ]
    told.stack[:] = kept
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _leave_out_our_frames(other)


def _import(file: str | None, name: str | None) -> ModuleType:
    from importlib import import_module

    if file is None:
        assert name is not None
        return import_module(name)
    from importlib.util import module_from_spec, spec_from_file_location

    stem = os.path.basename(file).removesuffix(".py")  # noqa: PTH119
    taken = stem in sys.modules or stem in sys.stdlib_module_names
    spec = spec_from_file_location(f"agent_{stem}" if taken else stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    # Where pickle, dataclasses and the module's own helpers look for it.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return sys.modules[spec.name]


def _described(module: ModuleType, name: str) -> dict[str, Any]:
    found = getattr(module, name, None)
    names = sorted(
        known for known, value in vars(module).items() if callable(value) and not known.startswith("_")
    )
    described: dict[str, Any] = {
        "names": names,
        "exists": hasattr(module, name),
        "callable": callable(found),
        "takes_none": True,
        "takes_one": True,
    }
    if callable(found):
        import inspect

        if inspect.iscoroutinefunction(found):
            # Once for all trials, which are forks of this process.
            import asyncio  # noqa: F401  # pyright: ignore[reportUnusedImport]
        described["takes_none"] = _can_be_called(found, ())
        described["takes_one"] = _can_be_called(found, (None,))
    return described


def _can_be_called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    import inspect

    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        return False
    except ValueError:
        # A builtin that tells nobody what it takes.
        return True
    return True


def _outcome_of(function: Callable[..., Any], request: dict[str, Any]) -> dict[str, Any]:
    arguments: list[Any] = []
    if request["input"] is not None:
        with open(request["input"], "rb") as given:  # noqa: PTH123
            text = given.read().decode()
        arguments.append(text if request["is_text"] else json.loads(text))
    value = function(*arguments)
    if hasattr(value, "__await__"):
        import asyncio

        value = asyncio.run(_awaited(value))
    plain = Plain()
    try:
        return {"output": plain.of(value), "notes": plain.notes}
    except NotJson as err:
        return {"defect": {"type": "not-json", "message": str(err)}}


def _write_whole(path: str, content: bytes) -> None:
    """Write a file that is there as a whole or not at all. Without pathlib: each page it touches is a fault."""
    half = f"{path}.half"
    with open(half, "wb", buffering=0) as result:  # noqa: PTH123
        rest = memoryview(content)
        while rest:
            rest = rest[result.write(rest) :]
    os.rename(half, path)  # noqa: PTH104


async def _awaited(value: Any) -> Any:
    return await value
