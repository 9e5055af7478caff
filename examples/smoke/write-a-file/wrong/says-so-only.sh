echo "letter.txt is written"
