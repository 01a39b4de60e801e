"""Runs libFuzzer targets. For each target, replays the inputs in tests/fuzz/corpus/TARGET, then fuzzes for a few seconds."""

import os
import tempfile

from .process import describe_exit, say, stream
from .results import Counts, SuiteError

SECONDS = int(os.environ.get("TERN_FUZZ_SECONDS", "5"))  # per target
LIMITS = ["-timeout=20", "-rss_limit_mb=4096"]


def quiet_run(command, env):
    """Runs libFuzzer without printing. Returns the exit code and the lines of output."""
    lines = []
    return stream(command, env=env, on_line=lines.append), lines


def report(name, code, lines):
    say(f"FAIL {name}: {describe_exit(code)}")
    start = next((i for i, line in enumerate(lines) if "ERROR" in line or "runtime error" in line),
                 max(0, len(lines) - 40))
    for line in lines[start:start + 40]:
        say(f"  {line}")


def replay(target, files, env, artifacts):
    """Runs all stored inputs in one process. If the process fails, runs the inputs one by one to find the failing ones."""
    command = [target, *LIMITS, f"-artifact_prefix={artifacts}/"]
    if not files or quiet_run([*command, *files], env)[0] == 0:
        return Counts(passed=len(files))
    counts = Counts()
    for file in files:
        code, lines = quiet_run([*command, file], env)
        if code != 0:
            report(f"{target.name} {file.name}", code, lines)
        counts += Counts(failed=1) if code else Counts(passed=1)
    if counts.failed == 0:
        say(f"FAIL {target.name}: the corpus fails in one process, but no file fails alone")
        counts += Counts(failed=1)
    return counts


def fuzz(target, corpus, env, artifacts):
    with tempfile.TemporaryDirectory() as fresh:  # libFuzzer writes new inputs to the first folder
        folders = [fresh, corpus] if corpus.is_dir() else [fresh]
        code, lines = quiet_run([target, *LIMITS, "-seed=1", f"-max_total_time={SECONDS}",
                                 f"-artifact_prefix={artifacts}/", *folders], env)
    if code != 0:
        report(f"{target.name} (input kept in {artifacts})", code, lines)
        return Counts(failed=1)
    return Counts(passed=1)


def run_all(bin_dir, corpora, env):
    targets = sorted(bin_dir.glob("*_fuzz"))
    if not targets:
        raise SuiteError(f"no *_fuzz binary in {bin_dir}")
    artifacts = bin_dir.parent / "artifacts"
    artifacts.mkdir(exist_ok=True)
    counts = Counts()
    for target in targets:
        corpus = corpora / target.name
        files = sorted(path for path in corpus.rglob("*") if path.is_file())
        counts += replay(target, files, env, artifacts) + fuzz(target, corpus, env, artifacts)
    for corpus in sorted(path for path in corpora.iterdir() if path.is_dir()):
        if corpus.name not in {target.name for target in targets}:
            say(f"FAIL {corpus.name}: there is no fuzz target with the name of this corpus")
            counts += Counts(failed=1)
    return counts
