"""`headgauge export`: what a scan found, in the forms that other tools load."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from headgauge.cli.output import stdout
from headgauge.cli.process import printable


def command(
    folder: Annotated[
        Path,
        typer.Argument(help="The folder of a finished scan, or texts/NAME of a reproduction."),
    ],
    format: Annotated[
        str,
        typer.Option(
            help="duo-attention (streaming or retrieval, a gate per KV head), kv-bits (bits per KV "
            "head), or the table of all heads as csv, tsv, json, jsonl, pandas (JSON that it reads "
            "with types), parquet, arrow (Feather), numpy (.npz, layers × heads)."
        ),
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(
            help="A file, for duo-attention a folder; what is there is not overwritten. Without "
            "it: text on stdout, else a place in the run's exports/."
        ),
    ] = None,
    bits: Annotated[
        float | None, typer.Option(help="kv-bits: their mean over KV heads. Without it: 4.")
    ] = None,
    slope: Annotated[
        float | None,
        typer.Option(
            help="kv-bits: bits per nat of collision entropy. Without it: 1/(2 log 2), equal error."
        ),
    ] = None,
) -> None:
    """Hand a scan on: means over the windows of its longest length. Nothing is measured anew."""
    from headgauge.exports import export

    found = export(folder, format, out, bits=bits, slope=slope)
    if isinstance(found, Path):
        stdout().print(str(found), soft_wrap=True)
    else:
        sys.stdout.write(printable(found))
