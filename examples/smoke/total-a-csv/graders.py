from intact import intact

from proctor import ExactMatch

graders = [ExactMatch(must_pass=True), intact()]
