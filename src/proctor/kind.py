"""What an author of a kind of agent needs: the protocol, what it is given, and what it gives back.

    from proctor.kind import Agent, AgentIdentity, Attempt, Ending, Place, Test, run_process

A package adds its kind by an entry point in the group `proctor.agents`, and proves it with
`proctor.testing.AgentContract`.
"""

from __future__ import annotations

from proctor.agents.process import run_process
from proctor.agents.waiting import Patience, Stopped
from proctor.errors import AgentError
from proctor.host.place import input_text
from proctor.ports import Agent, Cancel, Exceeded, Launch, Place, Surroundings
from proctor.records.grade import Defect
from proctor.records.run import AgentIdentity, Attempt, Ending, Limits
from proctor.records.suite import Test

__all__ = [
    "Agent",
    "AgentError",
    "AgentIdentity",
    "Attempt",
    "Cancel",
    "Defect",
    "Ending",
    "Exceeded",
    "Launch",
    "Limits",
    "Patience",
    "Place",
    "Stopped",
    "Surroundings",
    "Test",
    "input_text",
    "run_process",
]
