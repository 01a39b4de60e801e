"""Python environments of single suites, apart from .venv."""

import subprocess

from .process import say
from .results import SuiteError


def install(context, python, requirements, what):
    """Makes the environment of `python` with the packages in a file of requirements, unless that is done."""
    pins = context.path(requirements)
    done = python.parents[1] / "installed.txt"
    if not done.exists() or done.read_text() != pins.read_text():
        say(f"installing {what} into build/{python.parents[1].name}")
        for command in ([context.python, "-m", "venv", "--clear", python.parents[1]],
                        [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--requirement", pins]):
            if subprocess.run(command, check=False).returncode != 0:
                raise SuiteError(f"{what} could not be installed")
        done.write_text(pins.read_text())
