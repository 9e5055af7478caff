"""Which variables of the operator's environment no agent gets unless somebody asks for it, by their names and values.

Names are patterns as the shell has them: `*` stands for anything.
"""

from __future__ import annotations

import re
from fnmatch import translate

from proctor.core.secret_shapes import names_a_credential, secret_in

REPLACED = (
    "HOME",
    "MAIL",
    "TEMP",
    "TMP",
    "TMPDIR",
    "TEMPDIR",
    "XDG_*",
)
"""Folders of the operator: an agent has its own."""

CREDENTIALS = (
    "*PASSWORD*",
    "*PASSWD*",
    "*PASSPHRASE*",
    "*SECRET*",
    "*_JWT*",
    "*_DSN",
    "*[nN][pP][mM]_[cC][oO][nN][fF][iI][gG]_*[aA][uU][tT][hH]*",
    "ACTIONS_*",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_*",
    "AWS_CONTAINER_*",
    "AZURE_CLIENT_*",
    "BUILDKITE_AGENT_*",
    "CLOUDSDK_AUTH_*",
    "CO_API_KEY",
    "GIT_ASKPASS",
    "GPG_AGENT_INFO",
    "KRB5CCNAME",
    "MYSQL_PWD",
    "PGPASSFILE",
    "REDISCLI_AUTH",
    "SSH_AGENT_PID",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
)
"""What opens doors in the operator's name, beside the names that say so in plain words (`SERVICE_TOKEN`)."""

AGENTS = (
    "AIDER_*",
    "AMP_*",
    "ANTHROPIC_*",
    "AUGMENT_*",
    "AZURE_OPENAI_*",
    "CLAUDE_*",
    "CLAUDECODE",
    "CLINE_*",
    "CODEX_*",
    "CONTINUE_*",
    "COPILOT_*",
    "CRUSH_*",
    "CURSOR_*",
    "DROID_*",
    "FACTORY_*",
    "GEMINI_*",
    "GITHUB_COPILOT_*",
    "GOOGLE_GEMINI_*",
    "GOOGLE_GENAI_*",
    "GOOSE_*",
    "KILOCODE_*",
    "LLM_USER_PATH",
    "OPENAI_*",
    "OPENCODE_*",
    "OPENCODE",
    "OPENHANDS_*",
    "OPENROUTER_*",
    "QWEN_*",
    "ROO_*",
    "WINDSURF_*",
)
"""Settings of coding agents and of the libraries that talk to models: folders, default models, addresses."""

SETTINGS = (
    "ANSIBLE_CONFIG",
    "AWS_CONFIG_FILE",
    "AWS_DEFAULT_PROFILE",
    "AWS_PROFILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AZURE_CONFIG_DIR",
    "BASH_ENV",
    "BOTO_CONFIG",
    "CLOUDSDK_ACTIVE_CONFIG_NAME",
    "CLOUDSDK_CONFIG",
    "CURL_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DBUS_STARTER_ADDRESS",
    "DISPLAY",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "EMAIL",
    "ENV",
    "GH_CONFIG_DIR",
    "GIT_AUTHOR_*",
    "GIT_COMMITTER_*",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_KEY_*",
    "GIT_CONFIG_VALUE_*",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_TEMPLATE_DIR",
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STEP_SUMMARY",
    "GLAB_CONFIG_DIR",
    "GNUPGHOME",
    "GPG_TTY",
    "HELM_*",
    "HISTFILE",
    "ICEAUTHORITY",
    "INPUTRC",
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "KUBECONFIG",
    "LISTEN_FDS",
    "LISTEN_PID",
    "NETRC",
    "NOTIFY_SOCKET",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_userconfig",
    "PGSERVICEFILE",
    "PIP_CONFIG_FILE",
    "PYTHONSTARTUP",
    "RIPGREP_CONFIG_PATH",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "STY",
    "TF_CLI_CONFIG_FILE",
    "TMUX",
    "TMUX_PANE",
    "UV_CONFIG_FILE",
    "VSCODE_*",
    "WAYLAND_DISPLAY",
    "WGETRC",
    "XAUTHORITY",
    "YARN_RC_FILENAME",
    "ZDOTDIR",
)
"""Files with settings, and ways to the operator's desktop, agents and daemons."""

TRACING = (
    "OTEL_*",
    "TRACEPARENT",
    "TRACESTATE",
    "BAGGAGE",
)
"""Where the operator's own programs send their traces."""

_PROVIDERS = re.compile(
    r"(?:AI21|ANTHROPIC|AZURE|CEREBRAS|CLAUDE|CO|COHERE|DASHSCOPE|DEEPSEEK|FIREWORKS|GEMINI|GOOGLE|GROQ|HF|"
    r"HUGGING_?FACE|LITELLM|MISTRAL|MOONSHOT|NVIDIA|OLLAMA|OPENAI|OPENROUTER|PERPLEXITY|REPLICATE|TOGETHER|"
    r"VOYAGE|XAI|ZAI|ZHIPU\w*)(?:_\w+)?_(?:API_?KEY|AUTH_TOKEN|OAUTH_TOKEN|API_TOKEN|TOKEN|KEY)"
)
_WITH_PASSWORD = re.compile(r"\w://[^/\s:@]*:[^/\s@]+@")


def any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern that matches a whole name when one of these does; none of them match nothing."""
    return re.compile("|".join(map(translate, patterns)) or r"(?!)")


IS_REPLACED, IS_TRACING = any_of(REPLACED), any_of(TRACING)
IS_SETTING = any_of(SETTINGS + AGENTS)
_IS_CREDENTIAL = any_of(CREDENTIALS)


def is_credential(name: str, value: str) -> bool:
    """True for a variable that lets whoever has it act as the operator, by its name or by its value.

    >>> is_credential("SERVICE_TOKEN", "x"), is_credential("PAGER", "less"), is_credential("DB", "pg://me:pw@host/")
    (True, False, True)
    """
    if names_a_credential(name) or _IS_CREDENTIAL.match(name) is not None:
        return True
    return secret_in(value) is not None or _WITH_PASSWORD.search(value) is not None


def opens_a_model(name: str) -> bool:
    """True for the key of a provider of models, which an agent is likely to miss.

    >>> [name for name in ("OPENAI_API_KEY", "GITHUB_TOKEN", "HF_TOKEN") if opens_a_model(name)]
    ['OPENAI_API_KEY', 'HF_TOKEN']
    """
    return _PROVIDERS.fullmatch(name) is not None
