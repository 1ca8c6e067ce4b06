"""`headgauge`, which is `python -m headgauge`.

What it takes to be a process (signals, streams) is set up before anything heavy is imported.
"""

from headgauge.cli import process


def main() -> None:
    process.main(_run)


def _run() -> int:
    from headgauge.cli.app import run

    return run()


if __name__ == "__main__":
    main()
