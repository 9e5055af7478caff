"""The built-in graders, one criterion a file. `proctor` exports them."""
