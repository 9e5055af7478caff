"""expect_tool_call, expect_mcp_call, expect_skill_activation and their opposites: what the agent called, or did not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from proctor.core.evidence import calls_on, holds_arguments, is_mcp_call, skills_of
from proctor.graders.assertion import Assertion, Minimum, options_for
from proctor.graders.reference import shown
from proctor.ports import RunView
from proctor.records.evidence import Channel
from proctor.records.grade import Cause, Grade, Outcome, inconclusive
from proctor.records.json_value import Json, canonical_text
from proctor.records.trace import ToolCall

_MOST_NAMED = 5


@dataclass(frozen=True, kw_only=True)
class CallAssertion(Assertion):
    """An assertion on how often something was called.

    What it checks: the calls that the run's trace tells of, on one channel.
    Why: that an answer is right does not say that it was found in the right way.
    Passes: there are at least `at_least` such calls; with `at_least=0`, there is none.
    Fails: there are fewer; with `at_least=0`, there is one.
    Cannot tell: the trace bears less than `minimum_evidence`, or breaks off before what was looked for.

    Attributes:
        at_least: how many calls there have to be; 0 where there may be none at all.
    """

    at_least: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.at_least, bool) or not isinstance(self.at_least, int) or self.at_least < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError(
                f"grader {self.name!r}: at_least is a whole number of 1 or more, and this is {self.at_least!r}"
            )

    @property
    def shown_kind(self) -> str:
        """Its kind; `no-` stands before that of one that expects no call."""
        return self.kind if self.at_least else f"no-{self.kind}"

    @property
    def what(self) -> str:
        """What is looked for, for messages."""
        raise TypeError(f"{type(self).__name__} does not say what it looks for")

    def matches(self, call: ToolCall) -> bool:
        """True for a call that is looked for."""
        raise TypeError(f"{type(self).__name__} does not say what it looks for")

    def look(self, run: RunView) -> Grade:
        """Count the calls."""
        channel: Any = self.channel
        calls = calls_on(run.record, channel)
        seen = sum(map(self.matches, calls))
        is_met = seen >= self.at_least if self.at_least else seen == 0
        # What a broken trace does not hold may have happened all the same; what it holds did.
        is_open = not run.record.channels.is_whole and (not seen if not self.at_least else not is_met)
        said = self._said(seen, calls)
        if is_open:
            return inconclusive(f"the trace breaks off; so far, {said}", cause=Cause.EVIDENCE_TOO_WEAK)
        return Grade(outcome=Outcome.PASS if is_met else Outcome.FAIL, feedback=said, evidence={"seen": seen})

    def _said(self, seen: int, calls: Sequence[ToolCall]) -> str:
        times = "once" if seen == 1 else f"{seen} times"
        if seen:
            return f"{self.what} was called {times}"
        others = list(dict.fromkeys(shown(call.name) for call in calls))
        named = f"; called were {', '.join(others[:_MOST_NAMED])}" if others else ""
        return f"{self.what} was not called{named}"


@dataclass(frozen=True, kw_only=True)
class ToolCallAssertion(CallAssertion):
    """Calls of a tool, made by `expect_tool_call` and `expect_no_tool_call`.

    Attributes:
        tool: its name; any tool when empty.
        arguments: what it has to have been given, among other things; None for anything.
    """

    kind: ClassVar[str] = "tool-call"
    channel: ClassVar[Channel] = "tools"

    tool: str = ""
    arguments: Mapping[str, Json] | None = None

    @property
    def what(self) -> str:
        """The tool, and what it is to be given."""
        given = f" with {_cut(canonical_text(self.arguments))}" if self.arguments is not None else ""
        return (f"the tool {self.tool!r}" if self.tool else "a tool") + given

    def matches(self, call: ToolCall) -> bool:
        """True for a call of this tool with these arguments."""
        return (not self.tool or call.name == self.tool) and (
            self.arguments is None or holds_arguments(call, self.arguments)
        )


@dataclass(frozen=True, kw_only=True)
class McpCallAssertion(CallAssertion):
    """Calls of a tool of an MCP server, made by `expect_mcp_call` and `expect_no_mcp_call`.

    Attributes:
        server: its name.
        tool: its tool; any of them when empty.
    """

    kind: ClassVar[str] = "mcp-call"
    channel: ClassVar[Channel] = "mcp"

    server: str
    tool: str = ""

    @property
    def what(self) -> str:
        """Server and tool."""
        return (
            f"{self.tool!r} of the MCP server {self.server!r}" if self.tool else f"MCP server {self.server!r}"
        )

    def matches(self, call: ToolCall) -> bool:
        """True for a call of this tool of this server."""
        return is_mcp_call(call, self.server, self.tool or None)


@dataclass(frozen=True, kw_only=True)
class SkillAssertion(CallAssertion):
    """Activations of a skill, made by `expect_skill_activation` and `expect_no_skill_activation`.

    Attributes:
        skill: its name, with its plugin's (`plugin:skill`) or without; any skill when empty.
    """

    kind: ClassVar[str] = "skill-activation"
    channel: ClassVar[Channel] = "skills"

    minimum_evidence: Minimum = "inferred"
    skill: str = ""

    @property
    def what(self) -> str:
        """The skill."""
        return f"the skill {self.skill!r}" if self.skill else "a skill"

    def matches(self, call: ToolCall) -> bool:
        """True for an activation of this skill; one that was refused is none."""
        return call.error is None and (not self.skill or self.skill in skills_of(call))


def expect_tool_call(
    name: str,
    *,
    arguments: Mapping[str, Json] | None = None,
    at_least: int = 1,
    minimum_evidence: Minimum = "observed",
    grader_name: str = "",
    **options: Any,
) -> ToolCallAssertion:
    """The agent called the tool `name`, with these arguments among others, `at_least` so often.

    It is a gate unless `must_pass=False`; `grader_name` names the grader, the other options are those of every one.

    Raises:
        ValueError: an option is out of its range, or the name is empty.

    >>> expect_tool_call("search", arguments={"city": "Oslo"}).options.name
    'tool-call search {"city":"Oslo"}'
    """
    _named("expect_tool_call", "name", name)
    _positive("expect_tool_call", at_least)
    given = f" {_cut(canonical_text(dict(arguments)))}" if arguments is not None else ""
    return ToolCallAssertion(
        name=grader_name or f"tool-call {name}{given}",
        tool=name,
        arguments=arguments,
        at_least=at_least,
        minimum_evidence=minimum_evidence,
        **options_for("expect_tool_call", ToolCallAssertion, options),
    )


def expect_no_tool_call(
    name: str = "",
    *,
    arguments: Mapping[str, Json] | None = None,
    minimum_evidence: Minimum = "observed",
    grader_name: str = "",
    **options: Any,
) -> ToolCallAssertion:
    """The agent did not call the tool `name`, or not with these arguments; without a name, no tool at all.

    Raises:
        ValueError: an option is out of its range.
    """
    given = f" {_cut(canonical_text(dict(arguments)))}" if arguments is not None else ""
    return ToolCallAssertion(
        name=grader_name or f"no-tool-call{f' {name}' if name else ''}{given}",
        tool=name,
        arguments=arguments,
        at_least=0,
        minimum_evidence=minimum_evidence,
        **options_for("expect_no_tool_call", ToolCallAssertion, options),
    )


def expect_mcp_call(
    server: str,
    tool: str,
    *,
    at_least: int = 1,
    minimum_evidence: Minimum = "observed",
    name: str = "",
    **options: Any,
) -> McpCallAssertion:
    """The agent called this tool of this MCP server, `at_least` so often.

    Raises:
        ValueError: an option is out of its range, or a name is empty.

    >>> expect_mcp_call("docs", "search").options.must_pass
    True
    """
    _named("expect_mcp_call", "server", server)
    _named("expect_mcp_call", "tool", tool)
    _positive("expect_mcp_call", at_least)
    return McpCallAssertion(
        name=name or f"mcp-call {server} {tool}",
        server=server,
        tool=tool,
        at_least=at_least,
        minimum_evidence=minimum_evidence,
        **options_for("expect_mcp_call", McpCallAssertion, options),
    )


def expect_no_mcp_call(
    server: str, tool: str = "", *, minimum_evidence: Minimum = "observed", name: str = "", **options: Any
) -> McpCallAssertion:
    """The agent did not call this tool of this MCP server; without a tool, nothing of it.

    Raises:
        ValueError: an option is out of its range, or the server has no name.
    """
    _named("expect_no_mcp_call", "server", server)
    return McpCallAssertion(
        name=name or f"no-mcp-call {server}{f' {tool}' if tool else ''}",
        server=server,
        tool=tool,
        at_least=0,
        minimum_evidence=minimum_evidence,
        **options_for("expect_no_mcp_call", McpCallAssertion, options),
    )


def expect_skill_activation(
    skill: str, *, minimum_evidence: Minimum = "inferred", name: str = "", **options: Any
) -> SkillAssertion:
    """The agent activated this skill; `plugin:skill` and `skill` are the same.

    Raises:
        ValueError: an option is out of its range, or the skill has no name.
    """
    _named("expect_skill_activation", "skill", skill)
    return SkillAssertion(
        name=name or f"skill-activation {skill}",
        skill=skill,
        minimum_evidence=minimum_evidence,
        **options_for("expect_skill_activation", SkillAssertion, options),
    )


def expect_no_skill_activation(
    skill: str = "", *, minimum_evidence: Minimum = "inferred", name: str = "", **options: Any
) -> SkillAssertion:
    """The agent did not activate this skill; without a name, none at all.

    Raises:
        ValueError: an option is out of its range.
    """
    return SkillAssertion(
        name=name or f"no-skill-activation{f' {skill}' if skill else ''}",
        skill=skill,
        at_least=0,
        minimum_evidence=minimum_evidence,
        **options_for("expect_no_skill_activation", SkillAssertion, options),
    )


def _named(maker: str, parameter: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{maker}(): {parameter} is a name, and this is {value!r}")


def _positive(maker: str, at_least: Any) -> None:
    if isinstance(at_least, bool) or not isinstance(at_least, int) or at_least < 1:
        raise ValueError(f"{maker}(): at_least is a whole number of 1 or more, and this is {at_least!r}")


def _cut(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[:limit] + "…"
