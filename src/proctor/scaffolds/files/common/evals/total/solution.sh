awk '{ total += $1 } END { print total }' numbers.txt > total.txt
