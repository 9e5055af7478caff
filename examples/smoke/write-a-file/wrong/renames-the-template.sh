# The right letter, at the price of the file that was to be left alone.
sed -e 's/{name}/Ada Lovelace/g' -e 's/{day}/10 December/g' template.txt > letter.txt
rm template.txt
echo "letter.txt is written"
