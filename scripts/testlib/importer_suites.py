"""The suite `importers`: models of other frameworks, against the results of these frameworks."""

import os

from .environments import install
from .results import Counts, SuiteError


def stored(context):
    """Runs the stored samples, which need no framework."""
    return context.run_unittests("tests/importers")


def importers_full(context):
    """Runs the stored samples, then the tests of each format in an environment with its framework. TERN_IMPORTERS, a
    comma-separated list of folders in tests/importers, selects formats."""
    folders = sorted(path.parent for path in context.path("tests/importers").glob("*/requirements.txt"))
    names = [name for name in os.environ.get("TERN_IMPORTERS", "").split(",") if name] or [folder.name for folder in folders]
    counts = stored(context)
    for name in names:
        if name not in {folder.name for folder in folders}:
            raise SuiteError(f"TERN_IMPORTERS names '{name}', but there is no tests/importers/{name}/requirements.txt")
        python = context.root / "build" / f"importers-{name}" / "bin" / "python"
        install(context, python, f"tests/importers/{name}/requirements.txt", f"the packages of tests/importers/{name}")
        verbose = ["--verbose"] if context.verbose else []
        counts += context.run(python, context.path("scripts/testlib/unittest_main.py"), context.path(f"tests/importers/{name}"), *verbose)
    return counts or Counts()
