from proctor.eval import expect_outcome

graders = [
    expect_outcome(script="./graders/status_result.py"),
    expect_outcome(script="./graders/status-result.ts", must_pass=False),
]
