"""Public kits for people who extend proctor: what every grader and every kind of agent keeps to, as tests to inherit.

from proctor.testing import AgentContract, GraderContract, a_run
"""

from __future__ import annotations

from proctor.testing.agents import AgentContract, Behaviour, a_place
from proctor.testing.graders import GraderContract, a_run, grade

__all__ = ["AgentContract", "Behaviour", "GraderContract", "a_place", "a_run", "grade"]
