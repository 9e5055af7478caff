awk 'END { print NR }' numbers.txt > total.txt
