echo 100 > numbers.txt
