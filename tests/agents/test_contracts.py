"""Every kind of agent that comes with proctor keeps to the public contract."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from proctor.agents.agency import AgencyAgent
from proctor.agents.chat import ChatDialect
from proctor.agents.command import CommandAgent
from proctor.agents.function import FunctionAgent
from proctor.agents.http_agent import HttpAgent, PlainDialect
from proctor.agents.model_agent import ModelAgent
from proctor.agents.solution import NoopAgent, SolutionAgent
from proctor.testing import AgentContract
from tests.agents.agency_tool import AGENT, install_agency
from tests.agents.endpoints import behaving, chatting, serving

PATH = {"PATH": os.environ["PATH"]}

FUNCTIONS = """
import time

def echo(given): return given
def hang(given): time.sleep(600)
def crash(given): raise ValueError("it fell over")
def silent(given): pass
"""

SCRIPTS = {
    "echo": "cat $PROCTOR_INPUT",
    "hang": "sleep 600 & setsid sleep 600 & wait",
    "crash": "echo it fell over >&2; exit 3",
    "silent": "true",
}


class InAFolder(AgentContract):
    """A contract whose agents lie in a folder, and are reached at a server."""

    environment = PATH

    @pytest.fixture(autouse=True)
    def _surroundings(self, tmp_path: Path) -> None:
        self.folder = tmp_path


class TestFunction(InAFolder):
    fresh = False

    def agent(self, behaviour):
        (self.folder / "agent.py").write_text(FUNCTIONS)
        return FunctionAgent(f"agent.py:{behaviour}", launch_dir=self.folder, fresh=self.fresh)


class TestFreshFunction(TestFunction):
    fresh = True


class TestCommand(InAFolder):
    def agent(self, behaviour):
        return CommandAgent(f'sh -c "{SCRIPTS[behaviour]}"', launch_dir=self.folder)


class TestSolution(InAFolder):
    def agent(self, behaviour):
        script = self.folder / behaviour / "solution.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text(SCRIPTS[behaviour])
        return SolutionAgent({"test": script} | {f"test-{number}": script for number in range(4)})


class TestNoop(AgentContract):
    behaviours = ("silent",)

    def agent(self, behaviour):
        return NoopAgent()


class AtAServer(AgentContract):
    """A contract whose agents are reached over HTTP."""

    environment = PATH

    @pytest.fixture(autouse=True)
    def _server(self):
        with serving(self.answer) as server:
            self.server = server
            yield


class TestHttp(AtAServer):
    answer = staticmethod(behaving)

    def agent(self, behaviour):
        return HttpAgent(f"{self.server.url}/{behaviour}", dialect=PlainDialect())


class TestChat(AtAServer):
    answer = staticmethod(chatting)

    def agent(self, behaviour):
        url = f"{self.server.url}/v1/chat/completions"
        return HttpAgent(url, dialect=ChatDialect("127.0.0.1", model=behaviour))


class TestModel(AtAServer):
    answer = staticmethod(chatting)

    def agent(self, behaviour):
        environment = {"LOCAL_BASE_URL": f"{self.server.url}/v1", "LOCAL_API_KEY": "k"}
        return ModelAgent(f"local/{behaviour}", environment=environment)


@pytest.mark.skipif(shutil.which("node") is None, reason="compiled Agency modules run in Node.js")
class TestAgency(InAFolder):
    def agent(self, behaviour):
        tool = install_agency(self.folder)
        (self.folder / "agent.agency").write_text(AGENT)
        return AgencyAgent(f"agent.agency:{behaviour}", launch_dir=self.folder, command=str(tool))
