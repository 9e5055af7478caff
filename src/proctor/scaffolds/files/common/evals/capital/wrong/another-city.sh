# A wrong solution: `proctor check` wants the graders to fail it.
echo Lyon
