"""What a run leaves behind: its tables, their schema, its manifest.

    import headgauge.runs
    import polars as pl

    run = headgauge.runs.load_run("out")
    run.manifest["model"]["name"], run.manifest["units"]["w0000-L01024"]["loss"]
    run.tables["heads"].sort("sink_weight", descending=True).head()
    curves = run.tables["curves"].filter(vectors="value", top_n=20)
    curves.group_by("layer").agg(pl.mean("separability"))

The files are plain parquet and JSON: `pl.read_parquet("out/heads.parquet")` does as well.
`docs/results.md` lists every column, `layouts` has the tables of each kind of run. A run is made
with `RunFolder`, by units or by tables:

    run = RunFolder.open("out", settings)          run = RunFolder.open("out", settings, SIMULATION)
    run.describe(manifest(settings, "cpu", …))     run.describe(manifest(settings, "cpu", …))
    for key in keys - run.finished():              if not run.has("rates"):
        write_unit(Path("out"), unit(key))             run.write("rates", frame)
    run.merge(keys)                                run.finish(notes)
"""

from headgauge.runs.layouts import (
    ABLATION,
    COMPARISON,
    REMEDY,
    REPRODUCTION,
    RULES,
    SCAN,
    SIMULATION,
    VALIDATION,
    Layout,
    text_folder,
)
from headgauge.runs.manifest import Data, EdgeToken, Manifest, Model, Splits, UnitFacts, manifest
from headgauge.runs.manifest_file import begun_settings
from headgauge.runs.run_folder import Derived, Run, RunFolder, load_run
from headgauge.runs.schema import CurveRow, DepthCurveRow, DepthRow, HeadRow, frame_schema
from headgauge.runs.units import UnitKey, UnitTables, begun_units, write_unit

__all__ = [
    "ABLATION",
    "COMPARISON",
    "REMEDY",
    "REPRODUCTION",
    "RULES",
    "SCAN",
    "SIMULATION",
    "VALIDATION",
    "CurveRow",
    "Data",
    "DepthCurveRow",
    "DepthRow",
    "Derived",
    "EdgeToken",
    "HeadRow",
    "Layout",
    "Manifest",
    "Model",
    "Run",
    "RunFolder",
    "Splits",
    "UnitFacts",
    "UnitKey",
    "UnitTables",
    "begun_settings",
    "begun_units",
    "frame_schema",
    "load_run",
    "manifest",
    "text_folder",
    "write_unit",
]
