"""What a design may call imports nothing while it runs: a locked worker could not open the file."""

from __future__ import annotations

import json
import os
import subprocess
import sys

SCRIPT = '''
import faulthandler, json, sys, warnings
faulthandler.dump_traceback_later(60, exit=True)  # some of the calls below get nonsense: name one that hangs
from spade_envs.isolation import worker
worker.warm_up()
import numpy as np
from spade_envs.language.facades import Facades
from spade_envs.language.names import MODULES

late = set()

class Watch:
    def find_spec(self, name, path=None, target=None):
        late.add(name)

warnings.simplefilter("ignore")
facades = Facades(lambda *_: None)
modules = {name: facades.get(name) for name in MODULES if name != "__future__"}

def arrays():
    return np.array([[2.0, 1.0], [1.0, 3.0]]), np.arange(6)

def attempts():
    """Anew for each function: some write into what they get, and np.random.zipf of infinity never ends."""
    square, row = arrays()
    return [
        ((), {}), ((3,), {}), ((row,), {}), ((square,), {}), ((square,), {"axis": 0}), ((square, square), {}),
        ((row, row), {}), ((row, 2), {}), ((square, 1, 0), {}), (("2 + 3",), {}), (("a b", "a"), {}),
        ((r"(a)|b", "ab"), {}), (([3, 1, 2],), {}), (([3, 1, 2], 2), {}), ((lambda x: x, [1, 2]), {}),
        (("%Y", "2020"), {}), (("2020", "%Y"), {}), ((1, 2), {}), ((0.5,), {}), ((1, 2, 3), {}),
    ]

sys.meta_path.insert(0, Watch())
for module in modules.values():
    for name, member in vars(module).items():
        if not callable(member) or name in ("default_rng", "RandomState"):
            continue
        for values, options in attempts():
            try:
                found = member(*values, **options)
                str(found), repr(found)
            except Exception:
                pass
square, row = arrays()
for kind in (np.array(["a"]), np.array([True]), np.array([1j]), row, square, square[::-1, ::2], np.float32(2), row[:0]):
    for name in dir(kind):
        if not name.startswith("_") and name not in ("tofile", "dump", "ctypes"):
            for values in ((), (0,), (square,), (float,)):
                try:
                    member = getattr(kind, name)
                    member(*values) if callable(member) else str(member)
                except Exception:
                    pass
import datetime
for call in (lambda: datetime.datetime.strptime("2020", "%Y"), lambda: datetime.date(2020, 1, 1).strftime("%A %c")):
    call()
print(json.dumps(sorted(late)))
'''


def test_nothing_is_imported_late() -> None:
    one_thread = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as in a zygote
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, env=one_thread
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
