"""Without the extra, everything but asking a model works."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("openai", "anthropic"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name in ("openai", "anthropic") else real(name, *rest)
from proctor.models import ModelError, open_model
for name in ("openai/m", "anthropic/m"):
    try:
        open_model(name, {"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"})
    except ModelError as error:
        print(error.kind, error.fix)
"""


def test_a_missing_library_is_said_with_the_command_that_installs_it() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)

    assert "missing_extra pip install 'proctor[judge]'\n" * 2 == done.stdout


def test_opening_a_model_imports_no_client() -> None:
    """Answers may all be in the cache, and a client's library takes a second."""
    code = (
        "import sys\nfrom proctor.models import open_model\nopen_model('openai/m', {'OPENAI_API_KEY': 'k'})\n"
        "print(sorted(name for name in sys.modules if name in ('openai', 'anthropic')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]\n" == done.stdout
