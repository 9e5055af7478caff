"""Pictures of the HTML report in a browser, light and dark."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from docs.images.scenes import SCENES, Scene, lines_of

SIZE = "1180,760"
SCHEMES = {"light": 1, "dark": 0}
"""How Blink numbers the colour schemes that a reader may prefer."""
_REPORT = Scene(SCENES["compare"].before, ("proctor grade runs/new --baseline runs/old -o report.html",), 120)


def report_pictures(target: Path) -> Iterator[str]:
    """Write `report-light.png` and `report-dark.png`, where there is a Chromium; the names of those written."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        print("there is no Chromium: the pictures of the report stay as they are", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        lines_of(_REPORT, Path(folder))
        for scheme, number in SCHEMES.items():
            name = f"report-{scheme}.png"
            subprocess.run(
                [
                    browser,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--hide-scrollbars",
                    "--disable-background-networking",
                    "--force-device-scale-factor=1.5",
                    f"--blink-settings=preferredColorScheme={number}",
                    f"--window-size={SIZE}",
                    f"--user-data-dir={folder}/profile-{scheme}",
                    f"--screenshot={target / name}",
                    (Path(folder) / "report.html").as_uri(),
                ],
                capture_output=True,
                timeout=120,
                check=True,
            )
            yield name
