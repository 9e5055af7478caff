"""Every setting of a project: the field that people write, and its value when nobody does."""

from __future__ import annotations

from typing import NamedTuple

from proctor.loading.fault_rules import FAULT_RULE_FIELDS
from proctor.loading.fields import SECONDS, TEXT, TRIALS, WORDS, Field, object_schema
from proctor.records.json_value import Json


class Setting(NamedTuple):
    """A setting: the field that people write, and its value when nobody does.

    Attributes:
        field: its key, what it takes, and what it is for.
        default: None where there is none.
        is_path: it is relative to the folder of the file that it stands in.
    """

    field: Field
    default: Json
    is_path: bool = False


_COUNT: dict[str, Json] = {"type": "integer", "minimum": 1}

_SIZE: dict[str, Json] = {"anyOf": [TEXT, _COUNT]}
_DOLLARS: dict[str, Json] = {"type": "number", "exclusiveMinimum": 0}

SETTINGS = tuple(
    Setting(Field(name, schema, takes, example, meaning), default, is_path)
    for name, schema, takes, example, default, is_path, meaning in (
        (
            "suite",
            TEXT,
            "a path or a git source",
            '"evals"',
            None,
            False,
            "The suite, when --suite is not given.",
        ),
        (
            "evals",
            {"type": "array", "items": TEXT, "minItems": 1},
            "a list of at least one glob pattern",
            '["evals/**/*_eval.py"]',
            ["evals/**/*_eval.py"],
            False,
            "The typed suites, when no suite is named; relative to the file of the settings.",
        ),
        (
            "out",
            TEXT,
            "the path of a folder",
            '"runs"',
            "runs",
            True,
            "The folder that new groups are put into.",
        ),
        (
            "timeout",
            SECONDS,
            "seconds, a number above 0",
            "60",
            60,
            False,
            "Wall-clock limit of a trial, in seconds.",
        ),
        ("trials", TRIALS, "a whole number from 1 to 100", "3", 1, False, "How often each test is run."),
        ("parallel", _COUNT, "a whole number from 1", "4", 1, False, "How many trials run at the same time."),
        (
            "work_root",
            TEXT,
            "the path of a folder",
            '"/tmp"',
            None,
            True,
            "Where agents work; the system's space.",
        ),
        (
            "git_cache",
            TEXT,
            "the path of a folder",
            '".cache"',
            None,
            True,
            "Where suites from git are kept.",
        ),
        (
            "agency_cmd",
            TEXT,
            "a command",
            '"npx agency"',
            None,
            False,
            "The tool that compiles .agency files; the installed agency.",
        ),
        (
            "pass_env",
            WORDS,
            "a list of names of variables",
            '["OPENAI_*"]',
            list[Json](),
            False,
            "Variables that agents get although they look like credentials or settings.",
        ),
        (
            "sandbox",
            TEXT,
            "none or bwrap",
            '"bwrap"',
            "none",
            False,
            "What stands between agents and this machine.",
        ),
        (
            "network",
            TEXT,
            "none, proxy or host",
            '"proxy"',
            None,
            False,
            "What agents reach from the sandbox; the proxy.",
        ),
        (
            "allow_hosts",
            WORDS,
            "a list of hosts",
            '["api.openai.com"]',
            list[Json](),
            False,
            "Hosts that agents reach through the proxy.",
        ),
        (
            "bind_ro",
            WORDS,
            "a list of paths",
            '["/opt/models"]',
            list[Json](),
            False,
            "Files and folders that agents can read in the sandbox.",
        ),
        (
            "max_memory",
            TEXT,
            "a size",
            '"2G"',
            None,
            False,
            "What all processes of a trial may use together.",
        ),
        (
            "max_cpu_time",
            SECONDS,
            "seconds, a number above 0",
            "600",
            None,
            False,
            "Processor time of each process of a trial, in seconds.",
        ),
        (
            "max_file_size",
            TEXT,
            "a size",
            '"1G"',
            None,
            False,
            "The largest file that a trial may write.",
        ),
        (
            "max_processes",
            _COUNT,
            "a whole number from 1",
            "100",
            None,
            False,
            "How many processes and threads a trial may have at a time.",
        ),
        (
            "max_output",
            _SIZE,
            'a size, a number of bytes, or "none"',
            '"64M"',
            "1G",
            False,
            "What a trial may print and answer.",
        ),
        (
            "max_workdir",
            _SIZE,
            'a size, a number of bytes, or "none"',
            '"2G"',
            "10G",
            False,
            "What the files of a trial may take on the disk.",
        ),
        (
            "max_trial_cost",
            _DOLLARS,
            "US dollars, a number above 0",
            "0.5",
            None,
            False,
            "What the model calls of a trial may cost, in US dollars.",
        ),
        (
            "max_trial_tokens",
            _COUNT,
            "a whole number from 1",
            "200000",
            None,
            False,
            "How many tokens the model calls of a trial may use.",
        ),
        (
            "max_cost",
            _DOLLARS,
            "US dollars, a number above 0",
            "20",
            None,
            False,
            "No trial is started when all of a run have cost so much, in US dollars.",
        ),
        (
            "max_time",
            SECONDS,
            "seconds, a number above 0",
            "3600",
            None,
            False,
            "No trial is started after so many seconds of a run.",
        ),
        (
            "retries",
            {"type": "integer", "minimum": 0},
            "a whole number from 0",
            "2",
            0,
            False,
            "How often a trial is made again after a fault of a provider or the machine that may pass.",
        ),
        (
            "faults",
            {"type": "array", "items": object_schema(FAULT_RULE_FIELDS, required=("owner", "kind"))},
            "a list of rules",
            '[{owner = "provider", kind = "out_of_credit", stderr = "insufficient_quota"}]',
            list[Json](),
            False,
            "Whose fault it is when a trial ends in a certain way; before the built-in table.",
        ),
        (
            "judge_model",
            TEXT,
            "PROVIDER/NAME",
            '"openai/gpt-5-mini"',
            None,
            False,
            "The model that judges ask.",
        ),
    )
)
