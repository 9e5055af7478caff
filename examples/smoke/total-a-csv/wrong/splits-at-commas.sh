awk -F, 'NR > 1 { total += $3 } END { print total }' sales.csv
