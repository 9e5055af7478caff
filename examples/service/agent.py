import json
from pathlib import Path


def main(task: str) -> None:
    Path("config.json").write_text(json.dumps({"port": 8080}))
    Path("result.json").write_text(json.dumps({"state": "healthy"}))


def resigned(task: str) -> None:
    Path("result.json").write_text(json.dumps({"state": "broken"}))


def silent(task: str) -> None:
    pass
