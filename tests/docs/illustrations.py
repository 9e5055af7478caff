"""The blocks of the pages that no test tries, each with the reason why it cannot be."""

from __future__ import annotations

ILLUSTRATIONS = {
    "agents.md": {"$ proctor run agents/answer.agency": "the Agency tool is no Python package"},
    "agreement.md": {
        "q_8vhmzaa2pj": "which runs are drawn hangs on their ids, which are other ones every time"
    },
    "benchmarks.md": {"$ python benchmarks/run.py": "it takes minutes, and measures the machine"},
    "budgets.md": {'{"schema":"proctor.run-event/1"': "times and costs; it is held against its schema"},
    "coding-agents.md": {
        "$ proctor run claude --model": "it needs Claude Code and Codex, and their accounts",
        "$ proctor run claude --artifact": "it needs Claude Code, and an account",
    },
    "from-inspect.md": {"from inspect_ai import": "it needs the other tool"},
    "from-pydantic-evals.md": {"from pydantic_evals import": "it needs the other tool"},
    "README.md": {"run  ->": "a drawing"},
    "graders.md": {"objective = sum": "a formula"},
    "index.md": {"run  ->": "a drawing"},
    "installing.md": {"$ pip install proctor": "it installs from the network"},
    "isolation.md": {
        "$ proctor run agent.py --suite suite --sandbox": "it needs a key, and reaches a provider"
    },
    "judges.md": {"noise of tone": "one line of a long output"},
    "labelling.md": {"proctor label runs/refunds": "it opens a screen, of which there is a picture"},
    "suites.md": {"base[//subfolder]": "a grammar"},
    "tracing.md": {"const provider = new NodeTracerProvider": "it needs packages of Node.js"},
    "tutorial.md": {"$ python3 -m venv": "it installs from the network"},
}
"""How each begins, by page. Whatever can be tried is tried: this is to become shorter, not longer."""
