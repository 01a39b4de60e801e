"""The suites of the Python package: functions from Context to Counts."""

import shutil
import subprocess

from .process import run_with_summary, say
from .results import Counts


def python_tests(context, folder="tests/python", **env):
    verbose = ["--verbose"] if context.verbose else []
    return run_with_summary([context.python, context.path("scripts/testlib/unittest_main.py"), context.path(folder), *verbose],
                            env=dict(context.env, **env), verbose=context.verbose, cwd=context.root)


def python_in_tree(context):
    """Builds the Python package for the Python of .venv, and tests it in the build folder."""
    context.prepare("scripts/build", context.preset, "python_module")
    return python_tests(context, PYTHONPATH=str(context.root / "build" / context.preset / "python"))


def python_wheel(context):
    """Builds a wheel as `pip wheel .` does, installs it into a folder of its own, and tests it there."""
    wheels, site = context.root / "build" / "wheels", context.root / "build" / "wheel-site"
    for folder in (wheels, site):
        shutil.rmtree(folder, ignore_errors=True)
    context.prepare(".venv/bin/python", "-m", "pip", "wheel", str(context.root), "--no-deps", "--quiet", "--wheel-dir", str(wheels))
    wheel = next(wheels.glob("tern-*.whl"))
    context.prepare(".venv/bin/python", "-m", "pip", "install", "--no-deps", "--quiet", "--target", str(site), str(wheel))
    return python_tests(context, PYTHONPATH=str(site), TERN_WHEEL=str(wheel))


def torch_full(context):
    context.prepare("scripts/deps", "sweep")
    return torch_in_tree(context)


def torch_if_present(context):
    modules = ("torch", "transformers", "onnxscript")
    find = f"import importlib.util as u; print(*[m for m in {modules} if not u.find_spec(m)])"
    missing = subprocess.run([context.python, "-c", find], capture_output=True, text=True, check=True).stdout.split()
    if missing:
        say(f"SKIP torch: {', '.join(missing)} missing; `tern test torch` installs what it needs")
        return Counts(skipped=1)
    return torch_in_tree(context)


def torch_in_tree(context):
    context.prepare("scripts/build", context.preset, "python_module")
    return python_tests(context, "tests/python_torch", PYTHONPATH=str(context.root / "build" / context.preset / "python"))
