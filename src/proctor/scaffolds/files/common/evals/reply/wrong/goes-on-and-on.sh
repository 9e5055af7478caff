i=0
while [ "$i" -lt 100 ]; do
  printf 'thank you '
  i=$((i + 1))
done
echo
