"""What a run leaves behind: its tables, their schema, its manifest.

    import headgauge.runs
    import polars as pl

    run = headgauge.runs.load_run("out")
    run.manifest["model"]["name"], run.manifest["units"]["w0000-L01024"]["loss"]
    run.heads.sort("sink_weight", descending=True).head()
    run.curves.filter(vectors="value", top_n=20).group_by("layer").agg(pl.mean("separability"))

The files are plain parquet and JSON: `pl.read_parquet("out/heads.parquet")` does as well.
`docs/results.md` lists every column. A run is made with `RunFolder`, unit by unit:

    run = RunFolder.open("out", settings)
    run.write_manifest(manifest(settings=settings, ...))
    for key in keys - run.finished():
        run.add(measure(key))
    run.merge(keys)
"""

from headgauge.runs.depth_schema import DepthCurveRow, DepthRow
from headgauge.runs.environment import Hardware, SourceCode
from headgauge.runs.manifest import Data, EdgeToken, Manifest, Model, Splits, manifest
from headgauge.runs.manifest_file import begun_settings
from headgauge.runs.run_folder import Run, RunFolder, begun_units, load_run
from headgauge.runs.schema import (
    HEAD,
    TABLES,
    UNIT,
    CurveRow,
    HeadRow,
    QueryRow,
    SampleRow,
    frame_schema,
)
from headgauge.runs.tables import KEYS
from headgauge.runs.units import UnitFacts, UnitKey, UnitTables, read_unit, write_unit

__all__ = [
    "HEAD",
    "KEYS",
    "TABLES",
    "UNIT",
    "CurveRow",
    "Data",
    "DepthCurveRow",
    "DepthRow",
    "EdgeToken",
    "Hardware",
    "HeadRow",
    "Manifest",
    "Model",
    "QueryRow",
    "Run",
    "RunFolder",
    "SampleRow",
    "SourceCode",
    "Splits",
    "UnitFacts",
    "UnitKey",
    "UnitTables",
    "begun_settings",
    "begun_units",
    "frame_schema",
    "load_run",
    "manifest",
    "read_unit",
    "write_unit",
]
