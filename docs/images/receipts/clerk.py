"""Two clerks who read the total of a receipt, and one who takes his time."""

import re
import time

from proctor.trace import llm_call


def last_amount(receipt: str) -> str:
    return re.findall(r"\d+\.\d\d", receipt)[-1]


def after_total(receipt: str) -> str:
    found = re.search(r"total ([\d,]+\.\d\d)", receipt)
    return f"Total {found[1].replace(',', '')}" if found else "Total unknown"


def slow(receipt: str) -> str:
    words = receipt.split()
    for number, word in enumerate(words, start=1):
        with llm_call("gpt-5-mini", provider="openai") as call:
            time.sleep(0.25 + len(receipt) % 5 / 10)
            call.usage(tokens_in=4_000 * number, tokens_out=900)
        print(f"word {number} of {len(words)}: {word}", flush=True)
    return after_total(receipt)
