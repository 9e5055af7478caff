from pathlib import Path

program = Path("duration.py")
text = program.read_text()
text = text.replace(
    "    total = 0\n", '    if not re.fullmatch(r"([0-9]+[hms])+", text):\n        raise ValueError(text)\n    total = 0\n'
)
program.write_text(text.replace("total = int", "total += int"))
