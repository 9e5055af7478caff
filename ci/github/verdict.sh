#!/usr/bin/env bash
# Ends the step with the exit code of proctor, once everything else has been written.
set -euo pipefail

code=${EXIT_CODE:-70}
[[ $code =~ ^[0-9]{1,3}$ ]] || code=70
case $code in
  0) exit 0 ;;
  1) what='The job could not be done: see what proctor says above.' ;;
  2) what='A gate failed, something that was demanded was missed, or it is worse than the baseline.' ;;
  3) what='Inconclusive: something could not be told.' ;;
  4) what='An agent did not end well.' ;;
  5) what='A budget ran out.' ;;
  130) what='Interrupted.' ;;
  *) what='proctor did not end as it should.' ;;
esac
printf '::error title=proctor%%3A exit code %s::%s\n' "$code" "$what"
exit "$code"
