"""Floors: the same work in a bare loop, with nothing kept that a harness is for.

floors.py commands N J OUT CMD...   N commands, a folder each, at most J at once: threads and subprocess
floors.py functions N J OUT         N calls of a function, each in a fork of this process, a folder each
floors.py grade GROUP [sync]        exact, contains, similarity over recorded runs; three rows appended to each
floors.py list GROUP                read and decode what `proctor list` reads
"""

import os
import sys


def commands(count, parallel, out, command):
    import subprocess
    from concurrent.futures import ThreadPoolExecutor

    def one(number):
        folder = f"{out}/t{number:05d}"
        os.makedirs(f"{folder}/workdir")
        done = subprocess.run(
            command, cwd=f"{folder}/workdir", stdin=subprocess.DEVNULL, capture_output=True, timeout=60
        )
        with open(f"{folder}/stdout", "wb") as stream:
            stream.write(done.stdout)
        with open(f"{folder}/result.json", "w") as result:
            result.write(f'{{"code": {done.returncode}}}')

    with ThreadPoolExecutor(parallel) as pool:
        list(pool.map(one, range(count)))


def functions(count, parallel, out):
    os.makedirs(out)
    running = 0
    for number in range(count):
        if running == parallel:
            os.wait()
            running -= 1
        if os.fork() == 0:
            os.mkdir(f"{out}/t{number:05d}")
            with open(f"{out}/t{number:05d}/result.json", "w") as result:
                result.write('"fixed answer"')
            os._exit(0)
        running += 1
    for _ in range(running):
        os.wait()


def grade(group, sync):
    import msgspec
    from rapidfuzz.distance import Levenshtein

    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    names = ("exact-match", "contains", "similarity")
    for name in sorted(os.listdir(group)):
        path = f"{group}/{name}"
        try:
            with open(f"{path}/run.json", "rb") as file:
                run = decode(file.read())
        except (FileNotFoundError, NotADirectoryError):
            continue
        output, expected = run["output"], run["test"]["expected"]
        scores = (output == expected, expected in output, Levenshtein.normalized_similarity(output, expected))
        rows = [
            {"v": 1, "kind": "score", "run": run["run"], "name": one, "score": float(score), "weight": 1.0}
            for one, score in zip(names, scores, strict=True)
        ]
        target = os.open(f"{path}/annotations.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(target, b"".join(encode(row) + b"\n" for row in rows))
        if sync:
            os.fsync(target)
        os.close(target)


def read(group):
    import msgspec

    decode = msgspec.json.Decoder().decode
    for name in sorted(os.listdir(group)):
        try:
            with open(f"{group}/{name}/run.json", "rb") as file:
                decode(file.read())
            with open(f"{group}/{name}/annotations.jsonl", "rb") as file:
                rows = [decode(line) for line in file]
        except (FileNotFoundError, NotADirectoryError):
            continue
        print(name, rows[-1]["score"])


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "commands":
        commands(int(rest[0]), int(rest[1]), rest[2], rest[3:])
    elif what == "functions":
        functions(int(rest[0]), int(rest[1]), rest[2])
    elif what == "grade":
        grade(rest[0], rest[1:] == ["sync"])
    else:
        read(rest[0])
