"""Makes the pictures of the label screen in this folder: `python docs/images/label_screen.py`."""

from __future__ import annotations

import asyncio
import itertools
import re
import tempfile
from pathlib import Path

from proctor import load_suite, pick_agent, run
from proctor.engine.label_sessions import LabelRequest, start_session
from proctor.tui.app import LabelApp

HERE = Path(__file__).parent
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


def main() -> None:
    """Run a small suite, label a run, and write what the screen shows."""
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
                asyncio.run(_picture(LabelApp(session), size, keys, HERE / f"{name}.svg"))
            finally:
                session.close()


async def _picture(app: LabelApp, size: tuple[int, int], keys: tuple[str, ...], target: Path) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.press(*keys)
        await pilot.pause()
        picture = app.export_screenshot(title="proctor label")
        # The font that comes from elsewhere is left away: a page loads nothing from other sites.
        picture = re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL).replace(
            "Fira Code", "monospace"
        )
        target.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
