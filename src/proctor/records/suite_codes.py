"""The codes of what can be wrong with a typed suite."""

from __future__ import annotations

from enum import StrEnum


class SuiteCode(StrEnum):
    """What is wrong; a message begins with it."""

    LOAD_FAILED = "EVAL_SUITE_LOAD_FAILED"
    """The file raised, ended its process, or took too long."""
    EXPORT_INVALID = "EVAL_SUITE_EXPORT_INVALID"
    """It defines no `suite`, or one that `define_eval_suite` did not make."""
    DUPLICATE = "EVAL_SUITE_DUPLICATE"
    """Two suites have one name."""
    SUITE_INVALID = "EVAL_SUITE_INVALID"
    """The name is none, there are no cases, two have one id, or an argument is unknown."""
    CASE_INVALID = "EVAL_CASE_INVALID"
    """The id is none, or a field is unknown or holds what it may not."""
    PROMPT_INVALID = "EVAL_PROMPT_INVALID"
    """The prompt is no text, or blank."""
    TRIALS_INVALID = "EVAL_TRIALS_INVALID"
    """`trials` is no whole number from 1 to 100."""
    FIXTURE_INVALID = "EVAL_FIXTURE_INVALID"
    """The fixture is no folder below the suite's file, or its patterns are none."""
    HOST_INVALID = "EVAL_HOST_INVALID"
    """There is no host, or one without a name or a model."""
    INVOCATION_INVALID = "EVAL_INVOCATION_INVALID"
    """The mode is unknown, `explicit` names no skill, or another mode names one."""
    ASSERTION_INVALID = "EVAL_ASSERTION_INVALID"
    """There is no assertion, or one that is no grader, or two are the same or have one name."""
    CREDENTIAL_REJECTED = "EVAL_CREDENTIAL_REJECTED"
    """A field has the name of a credential, or a text the shape of a provider's key."""
    CONFIG_INVALID = "EVAL_CONFIG_INVALID"
    """The setting `evals` holds a pattern that leaves the project."""
    SELECTION_EMPTY = "EVAL_SELECTION_EMPTY"
    """No case is for the host that was named."""
