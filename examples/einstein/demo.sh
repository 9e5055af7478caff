#!/bin/sh
# Runs the einstein suite with two agents, grades both, and says where to look. Needs `proctor` on the PATH.
set -u
here=$(dirname "$0")
out=.demo
rm -rf "$out"

say() { printf '\n$ %s\n' "$*"; "$@"; code=$?; echo "[exit code $code]"; }

say proctor run "$here/agents.py:good" --suite "$here/suite" --out "$out/good"
say proctor grade "$out/good"
[ "$code" -eq 0 ] || { echo "the good agent should have passed"; exit 1; }

say proctor run "$here/agents.py:wordy" --suite "$here/suite" --out "$out/wordy"
say proctor grade "$out/wordy"
[ "$code" -eq 2 ] || { echo "the wordy agent should have failed its gate"; exit 1; }

cat <<EOF

The good agent passes; the wordy one knows the date, and fails the gate that wants the date alone.
Look at one run:    $(command -v proctor) show $out/wordy/birthday
The files it kept:  $out/wordy/birthday/
The suite:          $here/suite/birthday/ (test.json, graders.py)
EOF
