#!/usr/bin/env bash
# Installs proctor as this checkout of the action has it, with the extras that are asked for.
# It goes into the Python that the job has, where an agent in Python finds its libraries; where the system does not
# let packages be installed there, into an environment of its own, which the next steps find first.
set -euo pipefail

fail() {
  printf '::error title=proctor::%s\n' "$1"
  exit 1
}

extras=${INPUT_EXTRAS:-}
if [[ -n ${INPUT_BASELINE:-} ]]; then
  extras=${extras:+$extras,}stats
fi
[[ $extras =~ ^[a-z,]*$ ]] || fail 'extras: write names with commas between them, such as judge,stats.'

python=python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail 'proctor needs Python 3.11 or newer: add python-version to the step, or actions/setup-python before it.'

# Where a distribution keeps pip out of its own Python, it leaves a file that says so.
if "$python" - <<'PYTHON'
import sys, sysconfig
from pathlib import Path

is_closed = (Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED").exists()
sys.exit(not (is_closed and sys.prefix == sys.base_prefix))
PYTHON
then
  "$python" -m venv "$RUNNER_TEMP/proctor"
  python=$RUNNER_TEMP/proctor/bin/python3
  printf '%s\n' "$RUNNER_TEMP/proctor/bin" >>"$GITHUB_PATH"
fi

package=$GITHUB_ACTION_PATH${extras:+[$extras]}
if "$python" -m pip --version >/dev/null 2>&1; then
  "$python" -m pip install --quiet --disable-pip-version-check "$package"
else
  # An environment of uv has no pip.
  uv pip install --quiet --python "$("$python" -c 'import sys; print(sys.executable)')" "$package"
fi
"$python" -m proctor --version
