from intact import intact

from proctor.eval import expect_command

graders = [
    expect_command("python -m unittest discover -s tests -t .", name="own-tests", timeout=20),
    expect_command("python -m unittest tests.test_hidden", holdout=True, name="hidden-tests", timeout=20),
    intact("duration.py"),
]
