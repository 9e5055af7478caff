"""Makes the pictures in this folder from the real program: `python docs/images/make.py`, or `make pictures`.

Those of the report in a browser need Chromium; without it they are left as they are.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from docs.images.label_screen import label_pictures
from docs.images.report_pictures import report_pictures
from docs.images.scenes import SCENES, lines_of
from docs.images.terminal_pictures import svg_of

HERE = Path(__file__).parent


def main() -> None:
    """Make all of them."""
    made = label_pictures()
    for name, scene in SCENES.items():
        with tempfile.TemporaryDirectory() as folder:
            made[name] = svg_of(lines_of(scene, Path(folder)), "proctor")
    for name, picture in made.items():
        (HERE / f"{name}.svg").write_text(picture, encoding="utf-8")
        print(f"docs/images/{name}.svg")
    for name in report_pictures(HERE):
        print(f"docs/images/{name}")


if __name__ == "__main__":
    main()
