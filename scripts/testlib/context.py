"""What every suite gets: the paths and options of a run, and ways to run programs."""

import dataclasses
import os
import pathlib
import subprocess

from .process import run_with_summary
from .results import SuiteError


@dataclasses.dataclass(frozen=True)
class Context:
    """The paths and options of a run."""
    root: pathlib.Path
    preset: str
    verbose: bool

    @property
    def bin_dir(self):
        return self.root / "build" / self.preset / "bin"

    @property
    def tern(self):
        return self.bin_dir / "tern"

    @property
    def python(self):
        path = self.root / ".venv" / "bin" / "python"
        if not path.exists():
            raise SuiteError("there is no .venv; run scripts/deps test")
        return path

    @property
    def env(self):
        """The environment of the test programs. UBSan stops at the first error and prints the stack."""
        env = dict(os.environ, TERN_ROOT=str(self.root), TERN_BIN=str(self.tern), PYTHONUNBUFFERED="1")
        env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
        return env

    def path(self, relative):
        """Returns the path of a file or folder of the checkout. If it is missing, the suite fails."""
        path = self.root / relative
        if not path.exists():
            raise SuiteError(f"'{relative}' is not in this checkout")
        return path

    def binary(self, name):
        path = self.bin_dir / name
        if not path.exists():
            raise SuiteError(f"the build has no binary '{name}' in {self.bin_dir}")
        return path

    def run(self, *command):
        return run_with_summary(command, env=self.env, verbose=self.verbose, cwd=self.root)

    def run_script(self, relative, *args):
        return self.run(self.python, self.path(relative), *args)

    def run_unittests(self, folder):
        """Runs the Python tests in a folder of the checkout."""
        verbose = ["--verbose"] if self.verbose else []
        return self.run_script("scripts/testlib/unittest_main.py", self.path(folder), *verbose)

    def prepare(self, *command):
        """Runs a script that installs dependencies or builds."""
        code = subprocess.run([str(self.root / part) if i == 0 else part for i, part in enumerate(command)],
                              check=False).returncode
        if code != 0:
            raise SuiteError(f"{' '.join(command)} failed")
