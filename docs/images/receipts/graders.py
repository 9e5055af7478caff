from proctor import Grade, failed, grader, passed


@grader(must_pass=True)
def right_amount(output: str, expected: str) -> Grade:
    amount = output.rsplit(maxsplit=1)[-1]
    if float(amount) == float(expected):
        return passed()
    return failed(f"expected {expected}, got {amount}")


@grader
def says_total(output: str) -> bool:
    return output.startswith("Total")


graders = [right_amount, says_total]
