"""What a user can say of an agent beside its name, and which kinds take it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from proctor.errors import UsageError
from proctor.records.json_value import Json


class AgentOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of an agent, as they were written; each belongs to some kinds and is refused by the others.

    Attributes:
        stdin: a command gets its input on standard input.
        fresh: each trial of a Python function gets an interpreter of its own.
        headers: `NAME: VALUE`, sent to an HTTP endpoint.
        header_env: `NAME: ... {VARIABLE} ...`, sent to an HTTP endpoint; the variable's value stands for its name.
        output_path: where in the endpoint's JSON answer the output stands, such as `$.answer`.
        model: the model that a chat endpoint or a coding agent is asked for.
        artifact: the folder of what a coding agent carries to be tested.
        system: file with the system prompt of a model.
        params: `NAME=VALUE`; further settings of a model, or of a kind that was installed.
    """

    stdin: bool = False
    fresh: bool = False
    headers: tuple[str, ...] = ()
    header_env: tuple[str, ...] = ()
    output_path: str | None = None
    model: str | None = None
    artifact: Path | None = None
    system: Path | None = None
    params: tuple[str, ...] = ()

    def require(self, kind: str, takes: Iterable[str]) -> None:
        """Check that nothing is given that this kind does not take.

        Args:
            kind: what it is, as in "a Python function".
            takes: names of the options.

        Raises:
            UsageError: something is.
        """
        allowed = set(takes)
        for name, (flag, whose) in _FLAGS.items():
            if getattr(self, name) not in (False, (), None) and name not in allowed:
                raise UsageError(f"{flag} belongs to {whose}, and this is {kind}", fix=f"Leave out {flag}.")

    def system_text(self, launch_dir: Path) -> str | None:
        """The system prompt; None where none is given.

        Raises:
            UsageError: its file cannot be read.
        """
        if self.system is None:
            return None
        try:
            return (launch_dir / self.system).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
            raise UsageError(
                f"the system prompt {str(self.system)!r} cannot be read: {why}",
                fix="Name a text file with --system.",
            ) from error

    def param_values(self) -> dict[str, Json]:
        """The parameters: a value that is JSON is that, any other is text.

        Raises:
            UsageError: one has no name, or is given twice.
        """
        values: dict[str, Json] = {}
        for text in self.params:
            name, equals, value = text.partition("=")
            if not equals or not name.strip():
                raise UsageError(
                    f"--param takes NAME=VALUE, and this is {name!r}", fix="Write --param temperature=0."
                )
            if name.strip() in values:
                raise UsageError(f"--param {name.strip()} is given twice", fix="Give it once.")
            try:
                values[name.strip()] = msgspec.json.decode(value)
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                values[name.strip()] = value
        return values


_FLAGS: Mapping[str, tuple[str, str]] = {
    "stdin": ("--stdin", "a command (--agent-cmd)"),
    "fresh": ("--fresh", "a Python function"),
    "headers": ("--header", "an HTTP endpoint"),
    "header_env": ("--header-env", "an HTTP endpoint"),
    "output_path": ("--output-path", "an HTTP endpoint that answers JSON"),
    "model": ("--model", "a chat endpoint (http://.../chat/completions) or a coding agent (claude, codex)"),
    "artifact": ("--artifact", "a coding agent (claude, codex)"),
    "system": ("--system", "a model (model:PROVIDER/NAME) or a chat endpoint"),
    "params": ("--param", "a model, a chat endpoint, or a kind that was installed"),
}
