"""What the positional AGENT of the command line may be.

| written | what it is |
| --- | --- |
| contains `://` | an HTTP endpoint; one that speaks the chat protocol where its path ends in `/chat/completions` |
| `model:PROVIDER/NAME` | a bare language model |
| `PATH.py`, `PATH.py:NAME` | a Python function of a file; `main` without a name |
| `PATH.agency`, `PATH.agency:NODE` | a node of an `.agency` file; `main` without a name |
| `PACKAGE.MODULE:NAME` | a Python function of a module |
| `claude`, `codex` | a coding agent with a command line of its own |
| anything else | a kind by its name: `solution`, `noop`, or one that an installed package adds |

The first row that fits counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec

from proctor.agents.options import AgentOptions
from proctor.errors import AgentError, UsageError
from proctor.ports import Agent
from proctor.records.suite import Suite

_FILE = re.compile(r"(?s).+\.py(:\w*)?")
_AGENCY = re.compile(r"(?s).+\.agency(:\w*)?")
_MODULE = re.compile(r"\w+(\.\w+)*:\w+")
_MODEL = "model:"


class Standpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where an agent is named from.

    Attributes:
        launch_dir: what paths are relative to.
        environment: the operator's own, for keys of models and values of headers.
        agency_cmd: the tool that compiles `.agency` files; the installed one when None.
        suite: what will be run, which `solution` takes its scripts from.
    """

    launch_dir: Path
    environment: Mapping[str, str] = {}
    agency_cmd: str | None = None
    suite: Suite | None = None


def parse_agent(text: str, options: AgentOptions | None = None, *, standpoint: Standpoint) -> Agent:
    """The agent that `text` names, as the table of this module says.

    Raises:
        AgentError: it is none of these, or the file is not there.
        UsageError: an option does not belong to it, or `solution` is named without a suite.
    """
    options = options or AgentOptions()
    here = standpoint.launch_dir
    if "://" in text:
        return _endpoint(text, options, standpoint)
    if text.startswith(_MODEL):
        return _model(text.removeprefix(_MODEL), options, standpoint)
    if _AGENCY.fullmatch(text):
        from proctor.agents.agency import AgencyAgent
        from proctor.agents.agency_build import DEFAULT_COMMAND

        options.require("an .agency file", ())
        return AgencyAgent(text, launch_dir=here, command=standpoint.agency_cmd or DEFAULT_COMMAND)
    if _FILE.fullmatch(text) or _MODULE.fullmatch(text):
        from proctor.agents.function import FunctionAgent

        options.require("a Python function", ("fresh",))
        return FunctionAgent(text, launch_dir=here, fresh=options.fresh)
    from proctor.agents.hosts.kinds import CODING_AGENTS, coding_agent

    if text in CODING_AGENTS:
        options.require(f"the coding agent {text!r}", ("model", "artifact"))
        return coding_agent(
            text,
            environment=standpoint.environment,
            model=options.model,
            artifact=options.artifact,
            launch_dir=here,
        )
    from proctor.agents.kinds import agent_of_kind

    return agent_of_kind(text, options, launch_dir=here, suite=standpoint.suite)


def _endpoint(url: str, options: AgentOptions, standpoint: Standpoint) -> Agent:
    from proctor.agents.chat import PATH_END, ChatDialect
    from proctor.agents.http_address import address_of
    from proctor.agents.http_agent import HttpAgent, PlainDialect, header_of
    from proctor.agents.output_path import OutputPath

    address = address_of(url)
    is_chat = address.path.rstrip("/").endswith(PATH_END)
    if is_chat:
        options.require("a chat endpoint", ("headers", "header_env", "model", "system", "params"))
    else:
        options.require("an HTTP endpoint", ("headers", "header_env", "output_path"))
    headers = [header_of(text) for text in options.headers]
    headers += [header_of(text, standpoint.environment) for text in options.header_env]
    names = [header.name.lower() for header in headers]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"the header {name!r} is given twice", fix="Give it once.")
    if is_chat:
        system = options.system_text(standpoint.launch_dir)
        dialect = ChatDialect(address.host, model=options.model, system=system, params=options.param_values())
        return HttpAgent(url, dialect=dialect, headers=headers)
    path = None if options.output_path is None else OutputPath(options.output_path)
    return HttpAgent(url, dialect=PlainDialect(path), headers=headers)


def _model(name: str, options: AgentOptions, standpoint: Standpoint) -> Agent:
    from proctor.agents.model_agent import ModelAgent

    options.require("a model", ("system", "params"))
    if "/" not in name:
        raise AgentError(
            f"{name!r} names no model.", fix="Write model:PROVIDER/NAME, such as model:openai/gpt-5-mini."
        )
    return ModelAgent(
        name,
        environment=standpoint.environment,
        system=options.system_text(standpoint.launch_dir),
        params=options.param_values(),
    )
