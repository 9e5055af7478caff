"""Publishes the JSON Schemas with the site, as the program prints them."""

from __future__ import annotations

import json
from pathlib import Path

from proctor.schemas import SCHEMAS, file_name, schema


def path_of(name: str) -> str:
    """Where a schema stands on the site: `schema/run.v1.json`."""
    return f"schema/{file_name(name)}"


def publish(folder: Path) -> None:
    """Write each schema into a folder of the site's sources."""
    (folder / "schema").mkdir(parents=True, exist_ok=True)
    for one in SCHEMAS:
        text = json.dumps(schema(one.name), indent=2, ensure_ascii=False)
        (folder / path_of(one.name)).write_text(f"{text}\n", encoding="utf-8")
