"""The runner of .case files: what --only selects, and how the rest is reported."""

import os
import pathlib
import subprocess

from support import TERN, CliTest

RUNNER = pathlib.Path(TERN).with_name("tern_cases")
CASES = """op Unary kind="neg"
in x f32[1] = 1
out y f32[1] = -1
end
op Unary kind="abs"
in x f32[1] = -1
out y f32[1] = 1
end
"""


class Only(CliTest):
    def setUp(self):
        super().setUp()
        (self.dir / "first.case").write_text(CASES)
        (self.dir / "second.case").write_text(CASES.replace("f32", "f64"))

    def check(self, *args, code=0, summary=""):
        done = subprocess.run([RUNNER, self.dir, *args], capture_output=True, text=True, check=False, env=os.environ)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stdout.splitlines()[-1:], [summary] if summary else [])

    def test_without_it_all_cases_run(self):
        self.check(summary="4 passed, 0 failed, 0 skipped")

    def test_it_matches_files_places_and_names(self):
        self.check("--only", "second", summary="2 passed, 0 failed, 2 skipped")
        self.check("--only", "first.case:4", summary="1 passed, 0 failed, 3 skipped")
        self.check("--only", "abs", summary="2 passed, 0 failed, 2 skipped")

    def test_nothing_to_run_is_no_success(self):
        self.check("--only", "nothing", code=1, summary="0 passed, 0 failed, 4 skipped")
        self.check("--nly", "x", code=2)
