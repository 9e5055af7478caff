"""Command agents, with real commands."""

import json
import os
import threading
import time

import pytest

from proctor.agents.command import LARGEST_ARGUMENT, CommandAgent
from proctor.errors import AgentError
from proctor.host.cancel import Cancel
from proctor.records.run import Ending, Limits
from proctor.records.suite import Test
from tests.agents.conftest import HERE

SHOW = "import sys, json; print(json.dumps(sys.argv[1:]))"


@pytest.fixture
def launch(tmp_path):
    folder = tmp_path / "launch"
    folder.mkdir()
    (folder / "show.py").write_text(SHOW)
    return folder


@pytest.fixture
def command(launch):
    return lambda text, **options: CommandAgent(text, launch_dir=launch, **options)


def script(launch, content, name="agent.sh"):
    (launch / name).write_text("#!/bin/sh\n" + content)
    (launch / name).chmod(0o755)
    return f"./{name}"


def arguments(attempt, agent, test):
    return json.loads(attempt(agent, test).output)


# How a command is split and filled


def test_split_without_a_shell_and_filled_after_the_split(command, attempt):
    """E39: quotes group, an empty argument stays, and an input is one inert argument."""
    agent = command("""python3 show.py --flag="a b" '' {input}""")

    assert ["--flag=a b", "", "; rm -rf /"] == arguments(attempt, agent, Test(id="t", input="; rm -rf /"))


def test_backslashes_comments_and_variables_are_plain_text(command, attempt):
    """Nothing but whitespace and quotes is special."""
    agent = command(r"""python3 show.py a\ b # $HOME *.py '\"'""")

    assert ["a\\", "b", "#", "$HOME", "*.py", '\\"'] == arguments(attempt, agent, Test(id="t"))


def test_every_placeholder_is_filled_and_none_that_the_input_holds(command, attempt):
    """Placeholders anywhere in a token are replaced at once; the input is never looked into."""
    test = Test(id="t", input="{input} and {input_file}")

    assert ["<{input} and {input_file}|{input} and {input_file}>"] == arguments(
        attempt, command('python3 show.py "<{input}|{input}>"'), test
    )


def test_objects_are_filled_in_as_compact_json(command, attempt):
    """An object is one argument of compact JSON, and the same in the input file."""
    test = Test(id="t", input={"b": [1, "ü"], "a": None})
    text, path = arguments(attempt, command("python3 show.py {input} {input_file}"), test)

    assert '{"b":[1,"ü"],"a":null}' == text
    assert path.endswith("/input")


def test_input_by_file_by_variable_and_by_stdin(command, attempt, launch):
    """The input can be read in all four ways."""
    both = script(launch, 'cat "$1" "$PROCTOR_INPUT" -')
    test = Test(id="t", input="hello ")

    assert "hello hello hello " == attempt(command(f"{both} {{input_file}}", stdin=True), test).output


def test_stdin_is_empty_unless_asked_for(command, attempt):
    """A command that waits on its standard input finds its end."""
    assert None is attempt(command("cat"), Test(id="t", input="hello")).output


def test_file_that_the_user_named_is_found_from_the_workdir(command, attempt, place_for):
    """A relative file of the launch folder is given by its full path, unless the workdir holds it too."""
    test = Test(id="t")
    place = place_for(test)
    (place.workdir / "show.py").write_text("print('the one in the workdir')")

    assert "the one in the workdir" == attempt(command("python3 show.py"), test, place=place).output
    assert "[]" == attempt(command("python3 show.py"), test).output


def test_program_with_a_slash_is_relative_to_the_launch_folder(command, attempt, launch):
    """`./agent.sh` is the one where the user typed it; it runs in the workdir."""
    where = attempt(command(script(launch, "pwd")), Test(id="t")).output

    assert where.endswith("/workdir")


# What is refused before anything runs


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tool 'a", "never closed"),
        ("", "names no program"),
        ("'' a", "names no program"),
        ("tool {task}", "{input}"),
    ],
)
def test_command_that_cannot_be_split(command, text, says):
    """An open quotation mark, no program, and `{task}` are errors that say what to write."""
    with pytest.raises(AgentError, match=says):
        command(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no-such-tool-here a", "no-such-tool-here"),
        ("./missing.sh", "missing.sh"),
        ("./show.py", "chmod"),
        ("{input}", "begins with the input"),
    ],
)
def test_program_that_cannot_be_started_is_found_before_the_run(command, text, says):
    """A program that is missing or not executable is an error that names it and the fix."""
    with pytest.raises(AgentError, match=says):
        command(text).prepare([Test(id="t", input="a")], HERE)


def test_relative_entries_of_the_search_path_are_the_users(launch, attempt):
    """A PATH like `bin:/usr/bin` means the launch folder's `bin`, though the command runs elsewhere."""
    (launch / "bin").mkdir()
    script(launch / "bin", "echo mine", "tool")
    agent = CommandAgent("tool", launch_dir=launch, path="bin:/usr/bin")

    assert "mine" == attempt(agent, Test(id="t")).output


def test_placeholder_without_an_input_names_every_such_test(command):
    """All tests that lack an input are named at once, with both fixes."""
    tests = [Test(id="has", input="a"), Test(id="lacks"), Test(id="lacks-too")]

    with pytest.raises(AgentError) as caught:
        command("cat {input}").prepare(tests, HERE)
    assert ["test 'lacks'", "test 'lacks-too'"] == [fault.where for fault in caught.value.faults]
    assert "take {input} out" in caught.value.fix


@pytest.mark.parametrize("given", ["a\0b", "x" * LARGEST_ARGUMENT, "ü" * (LARGEST_ARGUMENT // 2)])
def test_input_that_is_no_argument_is_refused_with_the_other_ways(command, given):
    """A NUL, and more than 128 KiB, cannot be an argument; the message names the other three ways."""
    test = Test(id="big", input=given)

    with pytest.raises(AgentError, match=r"(?s)big.*input_file.*PROCTOR_INPUT.*--stdin"):
        command("cat {input}").prepare([test], HERE)
    command("cat {input_file}").prepare([test], HERE)


def test_largest_input_that_fits_is_given(command, attempt):
    """One byte below the system's limit, the command can be started."""
    test = Test(id="t", input="x" * (LARGEST_ARGUMENT - 1))

    assert str(LARGEST_ARGUMENT - 1) == attempt(command("expr length {input}"), test).output


# Output


@pytest.mark.parametrize(
    ("printed", "output"),
    [
        ("a\\n", "a"),
        ("a\\r\\n", "a"),
        ("a\\n\\n", "a\n"),
        ("a", "a"),
        (" a\\r", " a\r"),
        ("\\n", ""),
        ("", None),
        ("1\\n", "1"),
    ],
)
def test_output_is_text_less_one_final_line_end(command, attempt, printed, output):
    """Nothing at all is None; one final line end is not part of the text."""
    assert output == attempt(command(f"printf '{printed}'")).output


def test_output_file_wins_over_what_was_printed(command, attempt, launch):
    """What was written to $PROCTOR_OUTPUT is the output, unless it is empty."""
    written = script(launch, 'echo chatter; echo answer > "$PROCTOR_OUTPUT"')
    empty = script(launch, 'echo chatter; : > "$PROCTOR_OUTPUT"', "empty.sh")

    assert ("answer", "chatter") == (attempt(command(written)).output, attempt(command(empty)).output)


def test_bytes_that_are_no_text_are_replaced_and_noted(command, attempt):
    """Invalid UTF-8 becomes U+FFFD, and the attempt says so."""
    ended = attempt(command(r"printf 'a\377b'"))

    assert ("a\ufffdb", 1) == (ended.output, len(ended.notes))


def test_output_file_that_is_a_trap_is_not_read(command, attempt, launch):
    """A FIFO or a link in place of the output file is noted; what was printed counts."""
    fifo = script(launch, 'echo printed; mkfifo "$PROCTOR_OUTPUT"')
    link = script(launch, 'echo printed; ln -s /etc/passwd "$PROCTOR_OUTPUT"', "link.sh")
    for text in (fifo, link):
        ended = attempt(command(text))

        assert ("printed", 1) == (ended.output, len(ended.notes))


def test_streams_that_the_agent_replaced_hang_nobody(command, attempt, launch):
    """A command that puts FIFOs in place of its own streams ends as its exit code says."""
    trap = "cd .. && rm stdout stderr && mkfifo stdout stderr; exit 4"
    ended = attempt(command(script(launch, trap)))

    assert (Ending.ERROR, 4, None) == (ended.ending, ended.exit_code, ended.output)


# Endings


def test_exit_code_is_an_error_with_the_end_of_stderr(command, attempt, launch):
    """A non-zero exit code is told with the last 2,000 characters of standard error; output is kept."""
    ended = attempt(command(script(launch, "echo partial; printf '%3000d' 7 >&2; exit 3")))

    assert (Ending.ERROR, 3, "partial") == (ended.ending, ended.exit_code, ended.output)
    assert "exit code 3" in ended.defect.message
    assert 2_000 > len(ended.defect.message.partition("\n")[2].strip()) > 0


def test_foreign_signal_is_killed(command, attempt, launch):
    """A command that a signal ended which we did not send was killed, and the signal is named."""
    ended = attempt(command(script(launch, "kill -KILL $$")))

    assert (Ending.KILLED, "SIGKILL", None) == (ended.ending, ended.signal, ended.exit_code)


def test_time_limit_keeps_what_was_printed(command, attempt, launch):
    """A command past its limit ends in `timeout`, and its partial output is there."""
    ended = attempt(command(script(launch, "echo partial; sleep 60")), limits=Limits(timeout_s=0.3))

    assert (Ending.TIMEOUT, "partial") == (ended.ending, ended.output)


def test_cancel_is_interrupted(command, attempt):
    """A command that runs when the operator cancels ends in `interrupted`."""
    cancel = Cancel()
    threading.Timer(0.1, cancel.set).start()

    assert Ending.INTERRUPTED is attempt(command("sleep 60"), cancel=cancel).ending


def test_program_that_cannot_be_executed_is_a_harness_failure(command, attempt, launch):
    """A script whose interpreter is missing never ran: that is nobody's evidence."""
    (launch / "broken.sh").write_text("#!/no/such/interpreter\n")
    (launch / "broken.sh").chmod(0o755)
    ended = attempt(command("./broken.sh"))

    assert (Ending.HARNESS_FAILURE, "no-program") == (ended.ending, ended.defect.type)
    assert "broken.sh" in ended.defect.message


def test_deadline_is_told(command, attempt, launch):
    """The command knows the Unix time at which it will be ended."""
    told = int(
        attempt(command(script(launch, "echo $PROCTOR_DEADLINE")), limits=Limits(timeout_s=100)).output
    )

    assert 90 < told - time.time() <= 100


# Identity


def test_label_has_no_folder_of_this_machine(launch):
    """Absolute folders are cut from the label; relative paths, URLs and placeholders stay."""
    text = "/opt/tools/run --in=/home/me/x.txt https://a.b/c agents/a.py 'two words' {input}"
    identity = CommandAgent(text, launch_dir=launch).identity

    assert "run --in=x.txt https://a.b/c agents/a.py 'two words' {input}" == identity.label
    assert "command" == identity.kind


def test_digest_is_of_the_template_and_the_files_that_it_names(launch, tmp_path):
    """It changes with a file's content, and not with the folder that the files lie in."""

    def digest(folder, text="python3 show.py {input}"):
        return CommandAgent(text, launch_dir=folder).identity.digest

    before = digest(launch)
    moved = tmp_path / "moved"
    moved.mkdir()
    (moved / "show.py").write_text(SHOW)

    assert before == digest(moved)
    assert before != digest(launch, "python3 show.py -v {input}")
    (launch / "show.py").write_text(SHOW + "\n")
    assert before != digest(launch)


def test_other_tests_and_our_own_variables_are_not_in_the_environment(command, attempt):
    """Of proctor's own variables, a command has those of its trial only."""
    names = {line.split("=")[0] for line in attempt(command("env")).output.splitlines() if "PROCTOR" in line}

    assert {"PROCTOR_DEADLINE", "PROCTOR_OUTPUT", "PROCTOR_TRIAL", "PROCTOR_WORKDIR"} == names
    assert "PROCTOR_DEADLINE" not in os.environ
