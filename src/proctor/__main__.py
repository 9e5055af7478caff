"""`python -m proctor` is the same as `proctor`."""

from proctor.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
