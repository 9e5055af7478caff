# Puts the sentence where it would like to have found it.
from pathlib import Path

found = Path("archive/2024/03/handover.txt")
found.write_text("North gate: held by I. Adler.\n")
print(found)
