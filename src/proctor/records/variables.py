"""The variables of the environment that proctor reads, and those that it sets for what it starts."""

from __future__ import annotations

from typing import Final, NamedTuple


class Variable(NamedTuple):
    """A variable of the environment.

    Attributes:
        name: as the shell knows it.
        meaning: what it holds and does, in one sentence.
    """

    name: str
    meaning: str


READ: Final = (
    Variable("PROCTOR_JUDGE_MODEL", "The model that judges ask, when no option names one: `PROVIDER/NAME`."),
    Variable(
        "PROCTOR_AGENCY_CMD",
        "The tool that compiles `.agency` files; it comes before `agency_cmd` in the settings.",
    ),
    Variable(
        "XDG_CACHE_HOME",
        "Where answers of judges and suites from git are kept, in a folder `proctor`; else `~/.cache`.",
    ),
    Variable("TERM", "`dumb` turns off the live board of `proctor run`, and the screen of `proctor label`."),
)
"""What a user sets. The keys and addresses of providers stand in `proctor.models.providers`."""

AGENT: Final = (
    Variable("PROCTOR_WORKDIR", "The agent's working folder."),
    Variable("PROCTOR_INPUT", "A file that holds the input; not set when the test has none."),
    Variable("PROCTOR_OUTPUT", "The file that a command may write its output into, instead of printing it."),
    Variable("PROCTOR_DEADLINE", "When the time is up, in seconds since 1970."),
    Variable(
        "PROCTOR_MAX_COST", "What the trial may cost, in US dollars; not set without `--max-trial-cost`."
    ),
    Variable("PROCTOR_MAX_TOKENS", "How many tokens it may use; not set without `--max-trial-tokens`."),
    Variable(
        "PROCTOR_TRIAL", "A random mark, by which everything that the trial started is found and ended."
    ),
    Variable("HOME", "A home of its own, empty at first; `--keep-home` leaves the user's."),
    Variable("TMPDIR", "A temporary folder of its own."),
    Variable("GIT_CEILING_DIRECTORIES", "The folder that git does not look above."),
    Variable("TRACEPARENT", "The trace that the agent's spans belong to (W3C trace context)."),
    Variable("OTEL_EXPORTER_OTLP_ENDPOINT", "Where spans are sent: the receiver of this trial."),
)
"""What an agent finds in its environment."""

GRADING_COMMAND: Final = (
    Variable("PROCTOR_RESULT", "The file that a grading command may write its result into, as JSON."),
)
"""What a command that grades finds in its environment, beside a home and a temporary folder of its own."""
