"""No compiled row reads or writes beyond its arrays."""

import os
import subprocess
import sys
from pathlib import Path


def test_every_index_of_the_compiled_rows_is_within_its_array(tmp_path: Path) -> None:
    script = Path(__file__).with_name("within_bounds.py")
    # Less optimised: half of what compiling everything anew takes, and indices are the same.
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_OPT": "1"}
    done = subprocess.run(
        [sys.executable, str(script)],
        env=os.environ | checked,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-5000:]
