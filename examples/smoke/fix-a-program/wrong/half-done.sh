sed -i.bak 's/total = int/total += int/' duration.py
