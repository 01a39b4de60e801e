"""Python environments of single suites, apart from .venv."""

import subprocess

from .process import say
from .results import SuiteError


def install(context, python, requirements, what, alone=None):
    """Makes the environment of the interpreter `python`, with the packages in the file `requirements`. Does nothing if the
    environment already has these packages. `alone` is a file of packages that are installed without their dependencies."""
    pins = [context.path(file) for file in (requirements, alone) if file]
    text = "".join(file.read_text() for file in pins)
    done = python.parents[1] / "installed.txt"
    if not done.exists() or done.read_text() != text:
        say(f"installing {what} into build/{python.parents[1].name}")
        pip = [python, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        commands = [[context.python, "-m", "venv", "--clear", python.parents[1]], [*pip, "--requirement", pins[0]]]
        commands += [[*pip, "--no-deps", "--requirement", file] for file in pins[1:]]
        for command in commands:
            if subprocess.run(command, check=False).returncode != 0:
                raise SuiteError(f"{what} could not be installed")
        done.write_text(text)
