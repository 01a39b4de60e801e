"""What the tests of faults share. TERN_FAULTS=full takes more of everything."""

import contextlib
import os
import pathlib
import re

from fault_load import action
from serving import BACKENDS, ServeTest

FULL = os.environ.get("TERN_FAULTS") == "full"
NOTHING, SEGFAULT, HANG, FAIL, SLEEP = 0, 1, 4, 5, 6  # actions of tests/server/backends/misbehave.cc


def children(pid):
    """The process ids of the children of all threads of a process."""
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(word) for word in path.read_text().split()]
    return found


def resident_mb(pid):
    return int(re.search(r"VmRSS:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) / 1024


class FaultTest(ServeTest):
    def misbehaving(self, name="m", **parameters):
        """Creates a model of the back end `misbehave`. Returns its repository."""
        root = self.dir / "models"
        (root / name / "1").mkdir(parents=True)
        text = f'name: "{name}" backend: "misbehave"\n'
        text += "".join(f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}\n' for key, value in parameters.items())
        (root / name / "config.pbtxt").write_text(text)
        return root

    def plug_in_server(self, root, *args, **kwargs):
        if not (BACKENDS / "libtern_backend_misbehave.so").exists():
            self.skipTest("the sample plug-ins are not built")
        return self.serve("--repository", root, "--backend-folder", BACKENDS, *args, **kwargs)

    def every_answer(self, counter, *statuses):
        """Every request got one answer, with one of these statuses, and the right one."""
        self.assertEqual(counter.lost, [], counter)
        self.assertEqual(counter.wrong, [], counter)
        self.assertEqual(counter.sent, counter.answered, counter)
        self.assertLessEqual(set(counter.answers), set(statuses), counter)
        self.assertGreater(counter.answered, 0)

    def metric(self, server, pattern):
        text = server.call("GET", "/metrics", port="metrics")[2].decode()
        found = re.search(pattern + r"(?:\{[^}]*\})? ([0-9.e+]+)", text)
        return float(found[1]) if found else 0.0

    def ready(self, server, model="m"):
        return server.call("GET", f"/v2/models/{model}/ready")[0] == 200


def nothing(model):
    return lambda number: (f"/v2/models/{model}/infer", action(model, NOTHING), lambda found: found["outputs"][0]["data"] == [0])
