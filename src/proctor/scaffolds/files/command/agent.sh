# The agent under test. This one stands for yours, and knows just enough for the tests in evals/.
#
# EDIT: start your own program in here, or name it in place of this script: proctor run --agent-cmd 'mytool {input}'.
# It is given the input as its argument, stands in a folder that holds the files of the test, and its answer is what
# it prints. Whether it worked is its exit code.

task=$1

case $task in
*"capital of France"*) echo Paris ;;
*numbers.txt*)
  awk '{ total += $1 } END { print total }' numbers.txt > total.txt
  echo "The total is in total.txt."
  ;;
*letter.txt*) echo "Dear $(tail -n 1 letter.txt), on Sundays the library opens at ten. Kind regards." ;;
*)
  echo "I do not know how to do that." >&2
  exit 1
  ;;
esac
