grep -rl "North gate" archive | sort | head -n 1
