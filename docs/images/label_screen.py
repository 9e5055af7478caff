"""Pictures of the label screen, as SVG."""

from __future__ import annotations

import asyncio
import itertools
import tempfile
from pathlib import Path

from docs.images.terminal_pictures import without_fonts
from proctor import load_suite, pick_agent, run
from proctor.engine.label_sessions import LabelRequest, start_session
from proctor.tui.app import LabelApp

AGENT = """
from pathlib import Path

def main(order: str) -> str:
    Path("log.txt").write_text(f"looked up {order}\\n")
    return (
        "Dear Ms Lee,\\n\\nyour refund for " + order + " is on its way. It takes two to three working days until it "
        "is in your account.\\n\\nKind regards\\nThe shop"
    )
"""
CHECKLIST = """
name: refunds
questions:
  - text: Would you send this mail as it is?
    weight: 2
  - text: Does it say when the money arrives?
  - {text: How warm is it?, kind: scale, points: 5}
  - {text: What tone has it?, kind: choice, choices: {friendly: 1, neutral: 0.5, rude: 0}}
"""
PICTURES: tuple[tuple[str, tuple[int, int], tuple[str, ...]], ...] = (
    ("label-80x24", (80, 24), ("y", "y", "4")),
    ("label-120x40", (120, 40), ("y", "n", "4", "1", "m", *"says three days, and ours are five", "enter")),
)


def label_pictures() -> dict[str, str]:
    """Run a small suite, label a run of it, and give what the screen shows, by the name of the picture."""
    made: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "agent.py").write_text(AGENT)
        (root / "refunds.yaml").write_text(CHECKLIST)
        (root / "suite.json").write_text(
            '{"inputs": [{"id": "late", "input": "order 17"}, {"id": "lost", "input": "order 23"}]}'
        )
        group = run(load_suite(str(root / "suite.json")), pick_agent(f"{root}/agent.py"), out=root / "runs")
        for name, size, keys in PICTURES:
            request = LabelRequest(
                paths=(group.path,),
                file=root / "refunds.yaml",
                annotator="ada" if name.endswith("24") else "bo",
            )
            seconds = map(float, itertools.count())
            session = start_session(request, now=lambda: "2026-01-01T00:00:00Z", clock=seconds.__next__)
            try:
                made[name] = asyncio.run(_picture(LabelApp(session), size, keys))
            finally:
                session.close()
    return made


async def _picture(app: LabelApp, size: tuple[int, int], keys: tuple[str, ...]) -> str:
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        return without_fonts(app.export_screenshot(title="proctor label"))
