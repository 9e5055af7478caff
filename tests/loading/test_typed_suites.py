"""Typed suites: every rule with its code, where they are found, and what they are as tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import SuiteError, UsageError
from proctor.eval import EvalSuite, case, define_eval_suite, expect_exit_code, expect_file, explicit
from proctor.graders.exact_match import ExactMatch
from proctor.loading import load_suite, select_host
from proctor.records.suite import Fixture, HostPin, Invocation, Suite

HOSTS = {"claude": {"model": "m-1"}}
KEY = "sk-" + "ant-" + "api03-abcdefghijklmnopqrstuvwxyz0123456789"


def a_case(**fields: Any) -> Any:
    given: dict[str, Any] = {
        "id": "a",
        "prompt": "Do it.",
        "hosts": HOSTS,
        "assertions": [expect_exit_code()],
    }
    return case(**{**given, **fields})


def a_suite(*cases: Any, **fields: Any) -> EvalSuite:
    return define_eval_suite(**{"name": "service", "cases": list(cases), **fields})


WRONG: list[tuple[str, Callable[[], Any], str]] = [
    ("EVAL_SUITE_INVALID", lambda: a_suite(a_case(), name="-service"), "the suite's name is '-service'"),
    ("EVAL_SUITE_INVALID", lambda: a_suite(a_case(), name=""), "the suite's name is ''"),
    ("EVAL_SUITE_INVALID", a_suite, "the suite has no cases"),
    ("EVAL_SUITE_INVALID", lambda: a_suite(a_case(), a_case(id="A")), "two cases have the id 'A'"),
    ("EVAL_SUITE_INVALID", lambda: a_suite({"id": "a"}), "cases[0] is dict, which `case` did not make"),
    ("EVAL_SUITE_INVALID", lambda: a_suite(a_case(), case=1), "Did you mean `cases`?"),
    ("EVAL_CASE_INVALID", lambda: a_suite(a_case(id=".a")), "the id of a case is '.a'"),
    ("EVAL_CASE_INVALID", lambda: a_suite(a_case(id=7)), "the id of a case is 7"),
    ("EVAL_CASE_INVALID", lambda: a_suite(a_case(host={})), "'host' is no field of a case"),
    ("EVAL_CASE_INVALID", lambda: a_suite(a_case(timeout="60")), "a field holds what it may not"),
    ("EVAL_CASE_INVALID", lambda: a_suite(a_case(timeout=0)), "timeout is 0.0"),
    ("EVAL_CASE_INVALID", lambda: a_suite(a_case(metadata={"a": {1}})), "a field holds what it may not"),
    ("EVAL_PROMPT_INVALID", lambda: a_suite(a_case(prompt=" ")), "prompt is ' '"),
    ("EVAL_PROMPT_INVALID", lambda: a_suite(a_case(prompt=None)), "prompt is None"),
    ("EVAL_TRIALS_INVALID", lambda: a_suite(a_case(trials=0)), "trials is 0"),
    ("EVAL_TRIALS_INVALID", lambda: a_suite(a_case(trials=101)), "trials is 101"),
    ("EVAL_TRIALS_INVALID", lambda: a_suite(a_case(trials=True)), "trials is True"),
    ("EVAL_FIXTURE_INVALID", lambda: a_suite(a_case(fixture="../up")), "the path of the fixture is '../up'"),
    ("EVAL_FIXTURE_INVALID", lambda: a_suite(a_case(fixture="/abs")), "the path of the fixture is '/abs'"),
    ("EVAL_FIXTURE_INVALID", lambda: a_suite(a_case(fixture="C:\\a")), "the path of the fixture is 'C:"),
    (
        "EVAL_FIXTURE_INVALID",
        lambda: a_suite(a_case(fixture={"path": "a", "include": []})),
        "include of the fixture",
    ),
    (
        "EVAL_FIXTURE_INVALID",
        lambda: a_suite(a_case(fixture={"path": "a", "git": 1})),
        "git of the fixture is 1",
    ),
    (
        "EVAL_FIXTURE_INVALID",
        lambda: a_suite(a_case(fixture={"path": "a", "gitt": True})),
        "Did you mean `git`?",
    ),
    ("EVAL_HOST_INVALID", lambda: a_suite(a_case(hosts={})), "a case is for one host or more"),
    (
        "EVAL_HOST_INVALID",
        lambda: a_suite(a_case(hosts={"cl aude": {"model": "m"}})),
        "a host is named 'cl aude'",
    ),
    (
        "EVAL_HOST_INVALID",
        lambda: a_suite(a_case(hosts={"claude": {"model": " "}})),
        "the model of host 'claude' is ' '",
    ),
    ("EVAL_HOST_INVALID", lambda: a_suite(a_case(hosts={"claude": "m"})), "hosts['claude'] is 'm'"),
    (
        "EVAL_HOST_INVALID",
        lambda: a_suite(a_case(hosts={"claude": {"model": "m", "modle": 1}})),
        "Did you mean `model`?",
    ),
    (
        "EVAL_INVOCATION_INVALID",
        lambda: a_suite(a_case(invocation="manual")),
        "the mode of invocation is 'manual'",
    ),
    ("EVAL_INVOCATION_INVALID", lambda: a_suite(a_case(invocation="explicit")), "names the skill None"),
    (
        "EVAL_INVOCATION_INVALID",
        lambda: a_suite(a_case(invocation={"mode": "none", "skill": "s"})),
        "the invocation is none, and names the skill 's'",
    ),
    ("EVAL_ASSERTION_INVALID", lambda: a_suite(a_case(assertions=[])), "there are no assertions"),
    (
        "EVAL_ASSERTION_INVALID",
        lambda: a_suite(a_case(assertions=["x"])),
        "assertions[0] is str, and no grader",
    ),
    (
        "EVAL_ASSERTION_INVALID",
        lambda: a_suite(a_case(assertions=[ExactMatch])),
        "it is the class ExactMatch",
    ),
    (
        "EVAL_ASSERTION_INVALID",
        lambda: a_suite(a_case(assertions=[lambda output: True])),
        "a lambda has no name",
    ),
    (
        "EVAL_ASSERTION_INVALID",
        lambda: a_suite(a_case(assertions=[expect_file("a"), expect_file("a", name="b")])),
        "two assertions are the same: 'b'",
    ),
    (
        "EVAL_ASSERTION_INVALID",
        lambda: a_suite(a_case(assertions=[expect_file("a", name="x"), expect_file("b", name="x")])),
        "two assertions are named 'x'",
    ),
    (
        "EVAL_ASSERTION_INVALID",
        lambda: a_suite(a_case(assertions=[expect_file("a", scope=["t"])])),
        "assertion 'file a' has a scope",
    ),
    (
        "EVAL_CREDENTIAL_REJECTED",
        lambda: a_suite(a_case(hosts={"claude": {"model": "m", "api_key": "x"}})),
        "'api_key' of hosts['claude'] has the name of a credential",
    ),
]


@pytest.mark.parametrize(
    ("code", "make", "said"), WRONG, ids=[f"{code}-{number}" for number, (code, _, _) in enumerate(WRONG)]
)
def test_what_breaks_a_rule_has_its_code_and_place(code: str, make: Callable[[], Any], said: str) -> None:
    """And a way out."""
    with pytest.raises(SuiteError) as raised:
        make()
    (fault,) = raised.value.faults

    assert fault.what.startswith(f"{code}  ")
    assert said in fault.what + fault.fix
    assert fault.where.startswith(f"{__file__}:")
    assert fault.fix


def test_all_that_is_wrong_is_said_at_once() -> None:
    """Of every case, in order."""
    with pytest.raises(SuiteError) as raised:
        a_suite(a_case(prompt="", trials=0), a_case(id="b", hosts={}))

    assert ["EVAL_PROMPT_INVALID", "EVAL_TRIALS_INVALID", "EVAL_HOST_INVALID"] == [
        fault.what.split()[0] for fault in raised.value.faults
    ]


def test_a_case_is_a_test() -> None:
    """Prompt is input, fixture is files, assertions are graders; what is left out is what it is by default."""
    suite = a_suite(
        a_case(
            fixture={"path": "files", "include": ["**"], "git": True},
            invocation=explicit("notes"),
            trials=3,
            expected=[1],
            tags=["smoke"],
        )
    )
    (checked,) = suite.cases
    test = checked.test

    assert ("a", "Do it.", [1], 3, ("smoke",)) == (
        test.case,
        test.input,
        test.expected,
        test.trials,
        test.tags,
    )
    assert Fixture(path="files", git=True) == test.files
    assert {"claude": HostPin(model="m-1")} == test.hosts
    assert Invocation(mode="explicit", skill="notes") == test.invocation
    assert ("service", (expect_exit_code().assertion_id,)) == (test.suite, test.assertions)
    assert Invocation() == a_suite(a_case()).cases[0].test.invocation


def test_the_digest_is_over_what_is_said_and_not_over_how_it_is_written() -> None:
    """The same case has the same digest; a model, an expectation or the suite's name changes it."""
    one = a_suite(a_case(fixture="f"))

    assert one.digest == a_suite(a_case(fixture={"path": "f", "include": ["**"], "git": False})).digest
    for other in (
        a_suite(a_case(fixture="g")),
        a_suite(a_case(fixture="f", hosts={"claude": {"model": "m-2"}})),
        a_suite(a_case(fixture="f", assertions=[expect_exit_code(1)])),
        a_suite(a_case(fixture="f"), name="other"),
    ):
        assert one.digest != other.digest
    assert one.cases[0].test.digest == a_suite(a_case(fixture="f"), name="other").cases[0].test.digest


def test_the_pinned_model_gives_way_to_one_that_is_named() -> None:
    """`--model` overrides it."""
    test = a_suite(a_case()).cases[0].test

    assert ("m-1", "m-9", None) == (
        test.model_on("claude"),
        test.model_on("claude", "m-9"),
        test.model_on("codex"),
    )


HEAD = "from proctor.eval import case, define_eval_suite, expect_exit_code, expect_file\n"


def module(name: str = "service", *cases: str, **fields: str) -> str:
    written = [
        f"case(id={one!r}, prompt='p', hosts={HOSTS!r}, assertions=[expect_exit_code()]{fields.get(one, '')})"
        for one in cases or ("a",)
    ]
    return f"{HEAD}suite = define_eval_suite(name={name!r}, cases=[{', '.join(written)}])\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Suite]:
    """Write files below a folder, and load the suite that a path names."""

    def loaded(files: Mapping[str, str], name: str = "evals", **options: Any) -> Suite:
        for path, text in files.items():
            target = tmp_path / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
        return load_suite(name, base=tmp_path, **options)

    return loaded


def test_a_file_is_a_suite_and_so_is_a_folder_of_them(load: Callable[..., Suite]) -> None:
    """A single one has its own name; several together have the folder's."""
    files = {"evals/one_eval.py": module("one", "a"), "evals/deep/two_eval.py": module("two", "b", "c")}
    both = load(files)
    single = load(files, "evals/deep/two_eval.py")

    assert ("evals", ["b", "c", "a"]) == (both.name, [entry.test.id for entry in both.tests])
    assert ("two", ["b", "c"]) == (single.name, [entry.test.id for entry in single.tests])
    assert [entry.test.digest for entry in both.tests[:2]] == [entry.test.digest for entry in single.tests]
    assert "evals/one_eval.py:2" == both.tests[2].where
    assert "one_eval.py" == both.tests[2].test.graders


def test_two_suites_may_share_the_id_of_a_case(load: Callable[..., Suite]) -> None:
    """Loaded together, each is SUITE.CASE; alone it is what it is, and it is the same test."""
    files = {"evals/one_eval.py": module("one", "a", "x"), "evals/two_eval.py": module("two", "A")}
    both = load(files)

    assert ["one.a", "x", "two.A"] == [entry.test.id for entry in both.tests]
    assert ["a", "x", "A"] == [entry.test.case for entry in both.tests]
    assert load(files, "evals/one_eval.py").tests[0].test.digest == both.tests[0].test.digest


BROKEN: list[tuple[str, Mapping[str, str], str, str]] = [
    (
        "raises",
        {"a_eval.py": "\nraise RuntimeError('on purpose')"},
        "EVAL_SUITE_LOAD_FAILED",
        "a_eval.py:2|RuntimeError: on purpose",
    ),
    ("syntax", {"a_eval.py": "x = (\n"}, "EVAL_SUITE_LOAD_FAILED", "a_eval.py:1|SyntaxError"),
    (
        "exits",
        {"a_eval.py": "import sys; sys.exit(3)"},
        "EVAL_SUITE_LOAD_FAILED",
        "a_eval.py:1|SystemExit: 3",
    ),
    (
        "dies",
        {"a_eval.py": "import os; os._exit(3)"},
        "EVAL_SUITE_LOAD_FAILED",
        "a_eval.py|ended its process",
    ),
    (
        "in a helper",
        {"a_eval.py": "import near", "near.py": "x = 1\n1 / 0"},
        "EVAL_SUITE_LOAD_FAILED",
        "near.py:2|ZeroDivisionError",
    ),
    (
        "no argument of that name",
        {"a_eval.py": f"{HEAD}suite = define_eval_suite(nam='a', cases=[])"},
        "EVAL_SUITE_LOAD_FAILED",
        "a_eval.py:2|TypeError",
    ),
    ("no suite", {"a_eval.py": "x = 1"}, "EVAL_SUITE_EXPORT_INVALID", "a_eval.py|does not define `suite`"),
    (
        "a dict",
        {"a_eval.py": "suite = {'name': 'a', 'cases': []}"},
        "EVAL_SUITE_EXPORT_INVALID",
        "a_eval.py|`suite` is dict",
    ),
    (
        "by hand",
        {"a_eval.py": f"{module()}import dataclasses\nsuite = dataclasses.replace(suite, name='other')"},
        "EVAL_SUITE_EXPORT_INVALID",
        "a_eval.py|was changed afterwards",
    ),
    (
        "one name",
        {"a_eval.py": module("s"), "b_eval.py": module("S", "b")},
        "EVAL_SUITE_DUPLICATE",
        "b_eval.py|defined in evals/a_eval.py as well",
    ),
    (
        "rule",
        {"a_eval.py": module("s", "a", a=", trials=0")},
        "EVAL_TRIALS_INVALID",
        "a_eval.py:2|trials is 0",
    ),
    ("id", {"a_eval.py": module("s", "a--b")}, "EVAL_CASE_INVALID", "a_eval.py:2|two hyphens in a row"),
    (
        "fixture",
        {"a_eval.py": module("s", "a", a=", fixture='none'")},
        "EVAL_FIXTURE_INVALID",
        "a_eval.py:2|there is no such folder",
    ),
    (
        "fixture file",
        {"a_eval.py": module("s", "a", a=", fixture='f'"), "f": ""},
        "EVAL_FIXTURE_INVALID",
        "a_eval.py:2|not a folder",
    ),
    (
        "secret",
        {"a_eval.py": module("s", "a", a=f", goal='{KEY}'")},
        "EVAL_CREDENTIAL_REJECTED",
        "a_eval.py:2|a.goal looks like a secret",
    ),
    (
        "secret name",
        {"a_eval.py": module("s", "a", a=", metadata={'deep': {'api_key': 'x'}}")},
        "EVAL_CREDENTIAL_REJECTED",
        "a_eval.py:2|a.metadata.deep.api_key has the name of a credential",
    ),
]


@pytest.mark.parametrize(("kind", "files", "code", "said"), BROKEN, ids=[row[0] for row in BROKEN])
def test_a_suite_that_cannot_be_used_is_refused_by_file_and_line(
    load: Callable[..., Suite], kind: str, files: Mapping[str, str], code: str, said: str
) -> None:
    """Its code ran in a process of its own; whatever it does there is one fault."""
    del kind
    where, _, what = said.partition("|")
    with pytest.raises(SuiteError) as raised:
        load({f"evals/{name}": text for name, text in files.items()})
    (fault,) = raised.value.faults

    assert f"evals/{where}" == fault.where
    assert fault.what.startswith(f"{code}  ")
    assert what in fault.what
    assert KEY not in str(raised.value)


def test_a_credential_that_is_none_can_be_allowed(load: Callable[..., Suite]) -> None:
    """By the name that the message gives, or by one above it."""
    files = {"evals/a_eval.py": module("s", "a", a=", metadata={'deep': {'api_key': 'x'}}")}

    for allowed in ("a.metadata.deep.api_key", "a.metadata", "a"):
        assert 1 == len(load(files, allow_credentials=[allowed]).tests)


def test_every_fault_of_every_file_is_said(load: Callable[..., Suite]) -> None:
    """One bad file does not hide the next."""
    files = {"evals/a_eval.py": "1 / 0", "evals/b_eval.py": "suite = 1", "evals/c_eval.py": module("c")}
    with pytest.raises(SuiteError) as raised:
        load(files)

    assert ["evals/a_eval.py:1", "evals/b_eval.py"] == [fault.where for fault in raised.value.faults]


def test_hidden_files_and_links_are_no_suites(load: Callable[..., Suite], tmp_path: Path) -> None:
    """Nothing is found behind a link."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "far_eval.py").write_text("1 / 0")
    (tmp_path / "evals").mkdir()
    (tmp_path / "evals/linked").symlink_to(outside)
    (tmp_path / "evals/link_eval.py").symlink_to(outside / "far_eval.py")
    files = {"evals/a_eval.py": module(), "evals/.hidden/b_eval.py": "1 / 0", "evals/helpers.py": "1 / 0"}

    assert ["a"] == [entry.test.id for entry in load(files).tests]


def test_a_folder_holds_one_kind_of_suite(load: Callable[..., Suite]) -> None:
    """Typed ones or tests as data; a grading module that happens to end so is none."""
    data = {"evals/suite.json": '{"inputs": [{"id": "t", "input": "x", "graders": "my_eval.py"}]}'}
    with pytest.raises(
        SuiteError, match=r"mixes shapes of suites: a typed one \(a_eval.py\), and suite.json"
    ):
        load({**data, "evals/a_eval.py": module()})


def test_a_grading_module_may_have_the_name_of_a_suite(load: Callable[..., Suite]) -> None:
    """What does not define one does not count."""
    data = {
        "evals/suite.json": '{"inputs": [{"id": "t", "input": "x", "graders": "my_eval.py"}]}',
        "evals/my_eval.py": "from proctor import grader\ngraders = [grader(lambda output: True, name='a')]",
    }

    assert ["t"] == [entry.test.id for entry in load(data).tests]


def test_a_host_takes_the_cases_that_list_it(load: Callable[..., Suite]) -> None:
    """An agent that is no host takes all; a host that no case lists has nothing to do."""
    codex = HEAD + (
        "suite = define_eval_suite(name='c', cases=[case(id='c', prompt='p', hosts={'pi': {'model': 'm'}},"
        " assertions=[expect_exit_code()])])"
    )
    suite = load({"evals/a_eval.py": module("a"), "evals/c_eval.py": codex})

    def taken(host: str | None) -> list[str]:
        return [entry.test.id for entry in select_host(suite, host).tests]

    assert (["a"], ["c"], ["a", "c"], ["a", "c"]) == (
        taken("claude"),
        taken("pi"),
        taken("agent.py:main"),
        taken(None),
    )
    with pytest.raises(UsageError, match="EVAL_SELECTION_EMPTY  no test is for the host 'codex'"):
        taken("codex")
