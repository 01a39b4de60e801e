"""Suites of C++ arrays and mini builds, of data (pictures, sound, text) and of the documentation."""

import subprocess

from .environments import install
from .process import say
from .results import Counts


def images(context):
    context.binary("tern_images")
    return context.run_unittests("tests/images")


def audio_python(context):
    return context.root / "build" / "audio" / "bin" / "python"


def audio_full(context):
    """torch and soundfile have an environment of their own, because torch is large and other suites do not need it."""
    install(context, audio_python(context), "scripts/requirements-audio.txt", "torch and soundfile")
    return run_audio(context)


def run_audio(context):
    """Compares with formulas in numpy, and with torch and soundfile where audio_full has installed them."""
    context.binary("tern_audio")
    verbose = ["--verbose"] if context.verbose else []
    main, python = context.path("scripts/testlib/unittest_main.py"), audio_python(context)
    counts = context.run(context.python, main, context.path("tests/audio"), *verbose)
    if not (python.parents[1] / "installed.txt").exists():
        say("SKIP audio/peers: torch and soundfile missing; `tern test audio` installs them")
        return counts + Counts(skipped=1)
    return counts + context.run(python, main, context.path("tests/audio/peers"), *verbose)


def numpy_functions(context):
    context.binary("tern_np_driver")
    verbose = ["--verbose"] if context.verbose else []
    return context.run_script("scripts/testlib/unittest_main.py", context.path("tests/np"), *verbose)


def docs_full(context):
    context.prepare("scripts/deps", "pages")
    return run_docs(context)


def run_docs(context):
    """A test whose packages are not installed is skipped with a reason."""
    context.prepare("scripts/build", context.preset, "python_module")
    return context.run_unittests("tests/docs")


def examples_full(context):
    context.prepare("scripts/deps", "pages")
    return run_examples(context)


def run_examples(context):
    """An example whose packages or models are missing is skipped with a reason."""
    context.prepare("scripts/build", context.preset, "python_module")
    return context.run_unittests("tests/examples")


def mini_full(context):
    """Builds mini libraries, which takes minutes, and compares them with the full one."""
    context.binary("tern")
    return context.run_unittests("tests/mini")


def mini_not_by_default(_context):
    say("SKIP mini: it builds libraries, which takes minutes; `tern test mini` does that")
    return Counts(skipped=1)


TOKENIZER_LINES, TOKENIZER_LINES_SAMPLE = 10_000, 300


def tokenizers_full(context):
    context.prepare("scripts/deps", "tokenizers")
    return stored_tokenizers(context) + compare_tokenizers(context, "--lines", str(TOKENIZER_LINES))


def tokenizers_sample(context):
    missing = [name for name in ("tokenizers", "sentencepiece")
               if subprocess.run([context.python, "-c", f"import {name}"], capture_output=True, check=False).returncode != 0]
    if missing:
        say(f"SKIP tokenizers: {' and '.join(missing)} missing; `tern test tokenizers` installs what it needs")
        return stored_tokenizers(context) + Counts(skipped=1)
    return stored_tokenizers(context) + compare_tokenizers(context, "--lines", str(TOKENIZER_LINES_SAMPLE), "--vocabulary", "3000",
                                                           "--sample")


def stored_tokenizers(context):
    return context.run_script("tests/tokenizers/fixtures.py", "--program", context.binary("tern_tokenize"))


def compare_tokenizers(context, *options):
    return context.run_script("tests/tokenizers/compare.py", "--program", context.binary("tern_tokenize"), *options)
