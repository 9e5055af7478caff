from pathlib import Path

REFUSE = """    if not re.fullmatch(r"([0-9]+[hms])+", text):
        raise ValueError(text)
"""

program = Path("duration.py")
text = program.read_text()
text = text.replace("    total = 0\n", REFUSE + "    total = 0\n")
text = text.replace("total = int", "total += int")
program.write_text(text)
