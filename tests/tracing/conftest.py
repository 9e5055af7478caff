"""The packages of the Node agent."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = (
    "@opentelemetry/api@^1.9.0",
    "@opentelemetry/exporter-trace-otlp-proto@^0.223.0",
    "@opentelemetry/sdk-trace-node@^2.12.0",
)


@pytest.fixture(scope="session")
def node_modules() -> Path:
    """A folder in which a Node program finds the OpenTelemetry SDK: installed once, below the virtual environment."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm")
    folder = Path(sys.prefix) / "node-otel"
    if not (folder / "node_modules/@opentelemetry/sdk-trace-node").is_dir():
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text("{}")
        subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", *PACKAGES],
            cwd=folder,
            check=True,
            timeout=300,
        )
    return folder
