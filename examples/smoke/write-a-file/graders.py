from intact import intact

from proctor import FileEquals, grader

LETTER = """\
Dear Ada Lovelace,

we look forward to seeing you on 10 December.
Please tell us by 10 December at the latest if you cannot come, Ada Lovelace.
"""


@grader
def nothing_else_is_there(workdir) -> bool:
    return {path.name for path in workdir.iterdir()} <= {"template.txt", "letter.txt"}


graders = [
    FileEquals(path="letter.txt", equals=LETTER, must_pass=True),
    intact(),
    nothing_else_is_there,
]
