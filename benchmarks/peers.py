"""The same work in other tools, run by a Python that has them: pydantic-evals, Inspect.

peers.py pydantic-evals commands N J        peers.py pydantic-evals grade N
peers.py inspect commands N J LOGS          peers.py inspect functions N J LOGS
"""

import asyncio
import random
import sys

WORDS = "the of and to in is you that it he was for on are as with his they at be this have from".split()


def texts(count):
    """Pairs of an output and what was expected, of some 500 characters: a third equal, a third near, a third not."""
    draw = random.Random(42)
    for number in range(count):
        expected = [draw.choice(WORDS) for _ in range(130)]
        output = list(expected) if number % 3 < 2 else [draw.choice(WORDS) for _ in range(130)]
        if number % 3 == 1:
            for _ in range(3):
                output[draw.randrange(130)] = draw.choice(WORDS)
        yield f"t{number:05d}", " ".join(output), " ".join(expected)


async def true():
    process = await asyncio.create_subprocess_exec("/bin/true")
    await process.wait()
    return "done"


def pydantic_evals(work, count, *rest):
    from dataclasses import dataclass

    from pydantic_evals import Case, Dataset
    from pydantic_evals.evaluators import EqualsExpected, Evaluator

    if work == "commands":

        async def task(_):
            return await true()

        cases = [Case(name=f"t{n}", inputs=f"q{n}", expected_output="done") for n in range(count)]
        Dataset(name="bench", cases=cases, evaluators=[EqualsExpected()]).evaluate_sync(
            task, max_concurrency=int(rest[0]), progress=False
        )
        return
    from rapidfuzz.distance import Levenshtein

    @dataclass
    class Has(Evaluator):
        def evaluate(self, ctx) -> bool:
            return ctx.expected_output in ctx.output

    @dataclass
    class Near(Evaluator):
        def evaluate(self, ctx) -> float:
            return Levenshtein.normalized_similarity(ctx.output, ctx.expected_output)

    cases = [Case(name=name, inputs=output, expected_output=want) for name, output, want in texts(count)]
    Dataset(name="bench", cases=cases, evaluators=[EqualsExpected(), Has(), Near()]).evaluate_sync(
        lambda text: text, max_concurrency=2, progress=False
    )


def inspect(work, count, parallel, logs):
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.scorer import exact
    from inspect_ai.solver import solver

    @solver
    def answer():
        async def solve(state, generate):
            state.output.completion = await true() if work == "commands" else "done"
            state.completed = True
            return state

        return solve

    samples = [Sample(id=f"t{n}", input=f"q{n}", target="done") for n in range(count)]
    task = Task(dataset=samples, solver=answer(), scorer=exact())
    logged = eval(task, model="mockllm/model", log_dir=logs, display="none", max_samples=int(parallel))
    assert logged[0].status == "success", logged[0].error


if __name__ == "__main__":
    tool, what, size, *more = sys.argv[1:]
    (pydantic_evals if tool == "pydantic-evals" else inspect)(what, int(size), *more)
