from pathlib import Path

template = Path("template.txt").read_text()
Path("letter.txt").write_text(template.replace("{name}", "Ada Lovelace").replace("{day}", "10 December"))
print("letter.txt is written")
