set -e
sed 's/greet(/greeting_for(/' greeting.py > new && mv new greeting.py
