import json
import os
from pathlib import Path

question = json.loads(Path(os.environ["PROCTOR_INPUT"]).read_text())
rows = [line.split() for line in Path(question["file"]).read_text().splitlines()]
answer = {
    "failed": sum(int(row[4]) >= 500 for row in rows),
    "slowest": max(rows, key=lambda row: int(row[5].removesuffix("ms")))[3],
    "clients": sorted({row[1] for row in rows}),
}
Path(os.environ["PROCTOR_OUTPUT"]).write_text(json.dumps(answer))
