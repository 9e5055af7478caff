"""The tables that recorded runs are exported as, column by column."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Kind: TypeAlias = Literal["text", "integer", "number", "boolean"]
TableName: TypeAlias = Literal["runs", "grades", "labels", "events"]
Value: TypeAlias = str | int | float | bool | None
Record: TypeAlias = dict[str, Value]


class Column(msgspec.Struct, frozen=True):
    """One column. An empty cell means that there is none, or that nobody knows; it never means 0."""

    name: str
    kind: Kind
    says: str


RUN_KEY = (
    Column("group", "text", "path of the group, as it was named"),
    Column("run", "text", "name of the run directory"),
    Column("test", "text", "id of the test"),
    Column("trial", "integer", "1 for the first"),
    Column("attempt", "integer", "1 for the first"),
)
"""Every table begins with these: tables are joined by `group` and `run`."""

TABLES: dict[TableName, tuple[Column, ...]] = {
    "runs": (
        *RUN_KEY,
        Column("counts", "boolean", "it is the attempt in force of its trial"),
        Column("suite", "text", "name of the suite"),
        Column("tags", "text", "the test's, separated by commas"),
        Column("agent_kind", "text", "kind of agent"),
        Column("agent", "text", "how it was named"),
        Column("agent_version", "text", "what it says of itself"),
        Column("model", "text", "models in the trace, else the one that it was told to use"),
        Column("ending", "text", "how it ended"),
        Column("fault_owner", "text", "whose fault it is, where it says nothing about the agent"),
        Column("fault_kind", "text", "what kind of fault"),
        Column("outcome", "text", "pass, fail or inconclusive"),
        Column("objective", "number", "0 to 1"),
        Column("objective_low", "number", "with what is missing as worst"),
        Column("objective_high", "number", "with what is missing as best"),
        Column("gates_passed", "boolean", "empty where missing grades could change it"),
        Column("cause", "text", "why it is inconclusive, where that has one reason"),
        Column("reason", "text", "that in a sentence"),
        Column("label_score", "number", "mean of the people's scores"),
        Column("duration_s", "number", "wall-clock time in seconds"),
        Column("llm_calls", "integer", "model calls"),
        Column("tool_calls", "integer", "tool calls"),
        Column("tokens_in", "integer", "tokens sent"),
        Column("tokens_out", "integer", "tokens written"),
        Column("cost_usd", "number", "US dollars"),
        Column("started_at", "text", "ISO 8601, UTC"),
        Column("ended_at", "text", "ISO 8601, UTC"),
        Column("test_digest", "text", "digest of the test"),
        Column("proctor", "text", "version of proctor"),
    ),
    "grades": (
        *RUN_KEY,
        Column("grader", "text", "its name"),
        Column("outcome", "text", "pass, fail or inconclusive"),
        Column("score", "number", "0 to 1"),
        Column("scale", "text", "binary or scalar"),
        Column("weight", "number", "its share in the objective"),
        Column("must_pass", "boolean", "it is a gate"),
        Column("threshold", "number", "the bar of a scalar"),
        Column("samples", "integer", "how many samples have a value, where there were several"),
        Column("spread", "number", "their standard deviation"),
        Column("cause", "text", "why it is inconclusive"),
        Column("feedback", "text", "what the grader said"),
        Column("judge", "text", "judges by revision, separated by commas"),
        Column("judge_cost_usd", "number", "what they cost"),
    ),
    "labels": (
        *RUN_KEY,
        Column("checklist", "text", "id of the checklist"),
        Column("version", "integer", "revision that was answered"),
        Column("annotator", "text", "who"),
        Column("question", "text", "its id"),
        Column("question_text", "text", "what it asks"),
        Column("answer", "text", "as JSON; null says that it cannot be told"),
        Column("is_answered", "boolean", "False for a question that was left out"),
        Column("score", "number", "of the whole label, 0 to 1"),
        Column("is_stale", "boolean", "a live question is unanswered"),
        Column("note", "text", "a remark"),
        Column("at", "text", "ISO 8601, UTC"),
    ),
    "events": (
        *RUN_KEY,
        Column("number", "integer", "1 for the first of its run"),
        Column("kind", "text", "llm or tool"),
        Column("name", "text", "the model, or the tool"),
        Column("provider", "text", "whose model it is"),
        Column("start_s", "number", "seconds since the trace began"),
        Column("duration_s", "number", "seconds"),
        Column("tokens_in", "integer", "tokens sent"),
        Column("tokens_out", "integer", "tokens written"),
        Column("cost_usd", "number", "US dollars"),
        Column("error", "text", "what went wrong"),
        Column("try_number", "integer", "2 for a call that repeats one that failed"),
        Column("evidence", "text", "who says that there was this call"),
        Column("given", "text", "messages or arguments, as JSON"),
        Column("answered", "text", "messages or result, as JSON"),
    ),
}
