from pathlib import Path

template = Path("template.txt").read_text()
Path("letter.txt").write_text(template.replace("{name}", "Ada Lovelace", 1).replace("{day}", "10 December", 1))
Path("letter.txt.bak").write_text(template)
print("letter.txt is written")
