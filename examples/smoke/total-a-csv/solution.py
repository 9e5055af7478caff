import csv

with open("sales.csv", newline="") as rows:
    print(sum(float(row["amount"]) for row in csv.DictReader(rows)))
