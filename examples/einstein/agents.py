"""Three agents without a model: one that knows, one that rambles, one that crashes."""

DATE = "March 14, 1879"


def good(question: str) -> str:
    return DATE


def wordy(question: str) -> str:
    return f"Albert Einstein was born on {DATE}, in Ulm."


def crashing(question: str) -> str:
    raise RuntimeError("the model did not answer")
