"""What the keys of the label screen do, in words."""

from __future__ import annotations

from typing import Final

HINTS: Final = "y/n/c/1-9 answer  enter sign off  arrows move  tab view  ? help  q quit"

HELP: Final = """\
y n c         yes, no, cannot tell; then the next question
1 to 9, 0     a point of a scale, or a choice by its number (0 is 10)
space         turns yes and no; counts a scale or the choices up
backspace     takes back an answer that is not signed off
enter         signs off this run, and goes to the next that is not labelled
up, down      the question before, the next
left, right   the run before, the next
s             skips this run; it comes again at the end
o             goes to the next run that is not labelled
m             a note
a             adds a question of yes or no
d             deletes a question, or restores it
tab           the next view: run, files, calls, expected
. and ,       the next file, the one before
g             shows the grades of this run; it is recorded that you saw them
/             looks for a text; ctrl-n and ctrl-p go through what was found
ctrl-f ctrl-b, page down and up   a page
ctrl-d ctrl-u                     half a page
home, end                         the beginning, the end
?             this help; any key closes it
q, ctrl-c     quits; everything is saved already

An answer with a * is not signed off yet. Unanswered is not no: sign-off asks for each question."""
