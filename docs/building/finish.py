"""Adds to the built site what MkDocs does not make, and checks it: `python -m docs.building.finish`.

`llms.txt`, a search index for each language; and nothing may be loaded from elsewhere.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docs.building import external, llms, markup, search
from docs.building.prepare import ROOT

# Both are for sites whose address is known while they are built; this one can be put anywhere.
_ALTERNATE = re.compile(r'<link rel="alternate"[^>]*hreflang[^>]*>\s*')


def finish(site: Path, root: Path) -> list[str]:
    """Complete the site in a folder, and return what is wrong with it."""
    search.split(site)
    for page in site.rglob("*.html"):
        text = markup.without_breaks(page.read_text(encoding="utf-8"))
        page.write_text(_ALTERNATE.sub("", text), encoding="utf-8")
    for name in ("sitemap.xml", "sitemap.xml.gz"):
        (site / name).unlink(missing_ok=True)
    llms.write(site, root)
    return [f"loaded from elsewhere: {one}" for one in external.loads(site)]


if __name__ == "__main__":
    problems = finish(ROOT / "site", ROOT)
    sys.exit("\n".join(problems) or 0)
