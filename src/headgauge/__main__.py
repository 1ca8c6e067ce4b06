"""`python -m headgauge` is `headgauge`."""

from headgauge.cli import main

if __name__ == "__main__":
    main()
