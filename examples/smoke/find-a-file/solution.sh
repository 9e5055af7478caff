grep -rl "^North gate: held by [A-Z]" archive | head -n 1
