"""What of the operator's surroundings an agent gets, and what is told of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from proctor.errors import UsageError
from proctor.host.isolation import isolate
from proctor.host.place import Place
from proctor.host.premises import Premises
from proctor.records.run import Limits
from proctor.records.suite import Test

NAMES = some.one_of(
    some.sampled_from(
        ["HOME", "PATH", "OPENAI_API_KEY", "XDG_CONFIG_HOME", "TMPDIR", "SSH_AUTH_SOCK", "LANG"]
    ),
    some.from_regex(r"[A-Z][A-Z_]{0,12}", fullmatch=True),
)


def environment_of(place: Place, program: str = "env") -> str:
    launch = place.launch(["/bin/sh", "-c", program])
    return subprocess.run(
        launch.argv, cwd=launch.cwd, env=launch.environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The operator's."""
    made = tmp_path / "operator"
    made.mkdir()
    return made


def placed(tmp_path: Path, environment: dict[str, str], **how) -> Place:
    isolated = isolate({"PATH": os.environ["PATH"], **environment}, **how)
    return Premises(isolated=isolated, work_root=tmp_path).place(Test(id="a"), Limits())


def test_an_agent_has_an_empty_home_of_its_own(tmp_path, home):
    """HOME, the XDG folders and the temporary folder lie in the trial's own folder, outside the workdir."""
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").write_text('{"hooks": {}}')
    theirs = {"HOME": str(home), "XDG_CONFIG_HOME": str(home / ".config"), "TMPDIR": str(home / "tmp")}
    place = placed(tmp_path, theirs)
    said = dict(line.split("=", 1) for line in environment_of(place).splitlines())
    folders = [name for name in said if name.startswith("XDG_") or name in ("HOME", "TMPDIR", "TMP", "TEMP")]

    assert 9 == len(folders)
    for name in folders:
        assert Path(said[name]).is_relative_to(place.root), name
        assert not Path(said[name]).is_relative_to(place.workdir), name
    assert [".gitconfig"] == [path.name for path in Path(said["HOME"]).iterdir()]
    assert str(home) not in "".join(said.values())


def test_a_program_may_commit_in_its_home(tmp_path, home):
    """git has a name to commit under, which an agent that sets its own replaces."""
    place = placed(tmp_path, {"HOME": str(home), "GIT_AUTHOR_NAME": "Operator"})
    script = (
        "git init -q . && git commit -q --allow-empty -m one && git config --global user.name other"
        " && git commit -q --allow-empty -m two && git log --format=%an"
    )

    assert ["other", "agent"] == environment_of(place, script).split()


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "OPENAI_BASE_URL",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "AWS_ACCESS_KEY_ID",
        "AWS_PROFILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "KUBECONFIG",
        "DOCKER_CONFIG",
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "GH_CONFIG_DIR",
        "GIT_CONFIG_GLOBAL",
        "NPM_CONFIG_USERCONFIG",
        "npm_config_//registry/:_authToken",
        "PIP_CONFIG_FILE",
        "PGPASSWORD",
        "GITHUB_ENV",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "TRACEPARENT",
        "MY_SERVICE_TOKEN",
        "BASH_ENV",
    ],
)
def test_credentials_and_settings_are_withheld_and_named(name):
    isolated = isolate({name: "something", "PATH": "/usr/bin"})

    assert {"PATH": "/usr/bin"} == isolated.environment
    assert (name,) == isolated.told.withheld
    assert () == isolated.told.passed


@pytest.mark.parametrize(
    "name",
    [
        "PATH",
        "LANG",
        "USER",
        "SHELL",
        "TERM",
        "JAVA_HOME",
        "LD_LIBRARY_PATH",
        "SSL_CERT_FILE",
        "PIP_INDEX_URL",
        "TOKENIZERS_PARALLELISM",
        "HTTPS_PROXY",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "VIRTUAL_ENV",
        "HF_HOME",
        "CARGO_HOME",
    ],
)
def test_what_programs_need_to_run_is_let_in(name):
    isolated = isolate({name: "/something"})

    assert {name: "/something"} == isolated.environment
    assert () == isolated.told.withheld


def test_a_value_that_is_a_key_is_withheld_under_any_name():
    """So is an address with a password in it."""
    isolated = isolate({"HARMLESS": "AKIAABCDEFGHIJKLMNOP", "DATABASE": "postgres://me:secret@host/db"})

    assert {} == isolated.environment
    assert ("DATABASE", "HARMLESS") == isolated.told.withheld


def test_what_is_asked_for_is_let_in_and_named():
    """By its name, or by a pattern."""
    theirs = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "u", "GITHUB_TOKEN": "t", "CODEX_HOME": "c"}
    isolated = isolate(theirs, pass_env=["OPENAI_*", "CODEX_HOME", "NOT_THERE"])

    assert {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "u", "CODEX_HOME": "c"} == isolated.environment
    assert ("CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL") == isolated.told.passed
    assert ("GITHUB_TOKEN",) == isolated.told.withheld
    assert ("NOT_THERE",) == isolated.unset


def test_a_folder_of_the_operator_gets_in_by_its_exact_name_alone(tmp_path, home):
    """A pattern that stands for everything does not open the operator's home."""
    theirs = {"HOME": str(home), "XDG_CACHE_HOME": "/cache"}
    every = placed(tmp_path, theirs, pass_env=["*"])
    named = placed(tmp_path, theirs, pass_env=["XDG_CACHE_HOME"])

    assert every.environment["HOME"] == str(every.root / "home")
    assert every.environment["XDG_CACHE_HOME"] == str(every.root / "home/.cache")
    assert "/cache" == named.environment["XDG_CACHE_HOME"]
    assert named.environment["HOME"] == str(named.root / "home")


def test_the_operators_home_is_kept_when_that_is_asked_for(tmp_path, home):
    """With its settings; credentials still need to be passed, and temporary files still are the trial's own."""
    theirs = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": "/c",
        "CODEX_HOME": "/codex",
        "OPENAI_API_KEY": "k",
        "TMPDIR": "/t",
    }
    place = placed(tmp_path, theirs, keep_home=True)

    assert (str(home), "/c", "/codex") == tuple(
        place.environment[name] for name in ("HOME", "XDG_CONFIG_HOME", "CODEX_HOME")
    )
    assert "OPENAI_API_KEY" not in place.environment
    assert str(place.root / "tmp") == place.environment["TMPDIR"]
    assert "kept" == isolate(theirs, keep_home=True).told.home


def test_an_assignment_is_no_name():
    with pytest.raises(UsageError, match="no name of a variable"):
        isolate({}, pass_env=["KEY=value"])


def test_keys_of_model_providers_are_told_apart():
    """They are what an agent is likely to miss."""
    isolated = isolate({"OPENAI_API_KEY": "k", "GITHUB_TOKEN": "t", "KUBECONFIG": "x", "GEMINI_API_KEY": "g"})

    assert ("GEMINI_API_KEY", "OPENAI_API_KEY") == isolated.missed_keys


def test_version_managers_find_their_tools(tmp_path, home):
    """A shim that looks below $HOME unless a variable says otherwise runs as before."""
    shims = home / ".pyenv" / "shims"
    shims.mkdir(parents=True)
    (home / ".pyenv" / "version").write_text("3.99")
    (shims / "tool").write_text('#!/bin/sh\ncat "${PYENV_ROOT:-$HOME/.pyenv}/version"\n')
    (shims / "tool").chmod(0o755)
    place = placed(tmp_path, {"HOME": str(home), "PATH": f"{shims}:{os.environ['PATH']}"})

    assert "3.99" == environment_of(place, "tool")


def test_packages_in_the_operators_home_are_found(tmp_path, home):
    """What was installed with `pip install --user`; what the agent installs so goes into its own home."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = home / ".local" / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (packages / "of_the_operator.py").write_text("NUMBER = 42\n")
    base = Path(sys.base_prefix) / "bin" / version
    place = placed(tmp_path, {"HOME": str(home)})
    code = "import of_the_operator, site; print(of_the_operator.NUMBER, site.getusersitepackages())"
    number, where = environment_of(place, f'{base} -c "{code}"').split()

    assert "42" == number
    assert Path(where).is_relative_to(place.root / "home")


def test_the_agents_own_code_is_loaded_in_a_private_home(tmp_path, home):
    """Which all trials share, and which is gone when the premises are closed."""
    with Premises(
        isolated=isolate({"HOME": str(home), "OPENAI_API_KEY": "k"}), work_root=tmp_path
    ) as premises:
        environment = premises.surroundings.environment
        own = Path(environment["HOME"])

        assert own.is_dir()
        assert own != home
        assert "OPENAI_API_KEY" not in environment

    assert not own.parent.exists()


@given(
    some.dictionaries(NAMES, some.text("ab:/@", max_size=8)), some.lists(NAMES, max_size=2), some.booleans()
)
def test_every_variable_is_let_in_or_named(environment, passed, keep_home):
    """What an agent lacks of the operator's environment is told by name, the folders that it has anew excepted."""
    isolated = isolate(environment, keep_home=keep_home, pass_env=passed)
    anew = {
        name
        for name in environment
        if name.startswith("XDG_") or name in ("HOME", "MAIL", "TMPDIR", "TMP", "TEMP", "TEMPDIR")
    }
    let_in = isolated.environment.keys() & environment.keys()

    assert set(environment) == let_in | set(isolated.told.withheld) | (anew - let_in)
    assert not let_in & set(isolated.told.withheld)
    assert set(isolated.told.passed) <= let_in
