"""`headgauge cache`: what is kept between runs, and how to be rid of it."""

from typing import Annotated

import typer
from rich.table import Table

from headgauge.cli.output import JsonOption, print_json, size, stdout


def command(
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything in it.")] = False,
    json_output: JsonOption = False,
) -> None:
    """Show or clear the cache: converted GGUF models and downloaded texts."""
    from headgauge.models import cache_folder, clear_cache, list_cache

    sizes = clear_cache() if clear else list_cache()
    if json_output:
        entries = [
            {"part": path.parent.name, "name": path.name, "bytes": number}
            for path, number in sizes.items()
        ]
        print_json({"folder": str(cache_folder()), "cleared": clear, "entries": entries})
        return
    whole = size(sum(sizes.values()))
    if not sizes:
        stdout().print(f"{cache_folder()} is empty", soft_wrap=True)
        return
    table = Table(title=f"{'removed from ' if clear else ''}{cache_folder()}: {whole}")
    table.add_column("part")
    table.add_column("name", overflow="fold")
    table.add_column("size", justify="right")
    for path, number in sizes.items():
        table.add_row(path.parent.name, path.name, size(number))
    stdout().print(table)
