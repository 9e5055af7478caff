"""The agent under test.

This one stands for yours, and knows just enough for the tests in evals/.
"""

from pathlib import Path

CAPITALS = {"France": "Paris", "Norway": "Oslo"}


def main(task: str) -> str:
    """Do the task, and return the answer.

    The working directory holds the files of the test.

    EDIT: call your own agent in here. `async def` is fine, and so is an answer that
    is no text, such as a dict or a dataclass.
    """
    if "capital" in task:
        cities = [city for country, city in CAPITALS.items() if country in task]
        return cities[0] if cities else "I do not know."
    if Path("numbers.txt").exists():
        numbers = Path("numbers.txt").read_text().split()
        Path("total.txt").write_text(f"{sum(map(int, numbers))}\n")
        return "The total is in total.txt."
    if Path("letter.txt").exists():
        name = Path("letter.txt").read_text().split()[-1]
        return f"Dear {name}, on Sundays the library opens at ten. Kind regards."
    return "I do not know how to do that."
