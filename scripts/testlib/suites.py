"""The table of test suites. To add a suite, write a function from Context to Counts and add a row to SUITES."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import time
from collections.abc import Callable

from . import fuzz, gtest, python_suites
from .context import Context
from .importer_suites import importers_full, stored
from .interface_suites import (TOKENIZER_LINES, TOKENIZER_LINES_SAMPLE, audio_full, docs_full, examples_full, images, mini_full, mini_not_by_default,
                               numpy_functions, run_audio, run_docs, run_examples, tokenizers_full, tokenizers_sample)
from .process import run_with_summary, say
from .results import Counts, SuiteError
from .server_suites import (deploy_full, kserve_full, kserve_if_present, openai_full, openai_if_present, run_deploy, stores_full, stores_if_present,
                            SWAPS, swaps_full, SWAPS_SAMPLE, swaps_sample, tfs_full, tfs_if_present, triton)


def onnxruntime_library(context):
    """Returns the path of libonnxruntime in the Python environment of the tests, or None."""
    libraries = sorted(pathlib.Path(context.python).parents[1].glob("lib/python*/site-packages/onnxruntime/capi/libonnxruntime.so*"))
    return libraries[-1] if libraries else None


def unit(context):
    """Sets TERN_ONNXRUNTIME, which the test of the ONNX Runtime plug-in needs."""
    env = dict(context.env)
    if library := onnxruntime_library(context):
        env.setdefault("TERN_ONNXRUNTIME", str(library))
    return gtest.run_all(context.bin_dir, env, context.verbose)


def cases(context):
    return (context.run(context.binary("tern_cases"), context.path("tests/cases")) +
            context.run(context.binary("tern_rules"), context.path("tests/cases/rule")))


def faults_full(context):
    """The suite e2e runs the same files with smaller counts."""
    verbose = ["--verbose"] if context.verbose else []
    return run_with_summary([context.python, context.path("scripts/testlib/unittest_main.py"), context.path("tests/e2e"), "test_faults",
                             "test_faults_outside", *verbose], env=dict(context.env, TERN_FAULTS="full"), verbose=context.verbose, cwd=context.root)


def faults_in_e2e(_context):
    say("SKIP faults: the suite e2e runs a sample; `tern test faults` runs them in full")
    return Counts(skipped=1)


def random_graphs(context, *options):
    return context.run(context.binary("tern_random_graphs"), context.path("tests/cases/rule"), *options)


def graphs_full(context):
    """The seed is derived from the date, so the graphs are different each day."""
    return random_graphs(context, "--seed", str(1_000_000 * (int(time.time()) // 86400)), "--count", "10000")


def graphs_sample(context):
    return random_graphs(context)


def onnx(context):
    find = "import importlib.util as u; s = u.find_spec('onnx'); print(s.submodule_search_locations[0])"
    found = subprocess.run([context.python, "-c", find], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SuiteError("the onnx package is not in .venv; run scripts/deps test")
    data = pathlib.Path(found.stdout.strip()) / "backend" / "test" / "data"
    if not data.is_dir():
        raise SuiteError(f"the onnx package has no test data at {data}")
    suite = [context.binary("tern_onnx_suite"), data, "--expectations", context.path("tests/conformance/expectations.txt")]
    return context.run(*suite) + context.run(*suite, "--through-onnx") + context.run(*suite, "--optimize")


def with_zoo(name, run):
    """Calls `run`, which needs the folder of published models. If TERN_ZOO is not set, counts one skipped test."""
    if not os.environ.get("TERN_ZOO"):
        say(f"SKIP {name}: TERN_ZOO does not name a folder of models")
        return Counts(skipped=1)
    if not os.path.isdir(os.environ["TERN_ZOO"]):
        raise SuiteError(f"TERN_ZOO is '{os.environ['TERN_ZOO']}', which is not a folder")
    return run()


def zoo(context):
    return with_zoo("zoo", lambda: context.run_script("tests/zoo/run.py", "--tern", context.binary("tern")))


PICTURES, PICTURES_SAMPLE = 500, 10


def labels(context, pictures):
    return with_zoo("accuracy", lambda: context.run_script("tests/accuracy/labels.py", "--tern", context.binary("tern"),
                                                           "--pictures", str(pictures)))


def accuracy_full(context):
    return labels(context, PICTURES)


def accuracy_sample(context):
    return labels(context, PICTURES_SAMPLE)


GIGABYTES, GIGABYTES_SAMPLE = 3, 0.5


def big_model(context, *options):
    return context.run_script("tests/slow/big_model.py", "--tern", context.binary("tern"), *options)


def slow_full(context):
    return big_model(context, "--gigabytes", str(GIGABYTES))


def slow_sample(context):
    """The test allows memory of 1.1 times the size of the file. While a layer is packed, it is in memory twice, so a layer
    must be smaller than 0.1 times the file."""
    return big_model(context, "--gigabytes", str(GIGABYTES_SAMPLE), "--width", "2048")


def e2e(context):
    context.binary("tern")
    return context.run_unittests("tests/e2e")


def bench(context):
    context.prepare("scripts/build", context.preset, "kernels_bench")  # a plain build does not build kernels_bench
    return context.run_unittests("tests/bench")


def fuzz_full(context):
    corpora = context.path("tests/fuzz/corpus")
    context.prepare("scripts/deps", "fuzz")
    context.prepare("scripts/build", "fuzz")
    return fuzz.run_all(context.root / "build" / "fuzz" / "bin", corpora, context.env)


def fuzz_sample(context):
    """Replays the stored inputs with the ordinary build, so that neither clang nor a second build is needed."""
    corpora = context.path("tests/fuzz/corpus")
    return context.run(context.binary("tern_fuzz_replay"), corpora) + context.run(context.binary("tern_replay_models"), corpora)


def differential_full(context):
    """Also runs the tests of the fuzzer itself. They take a minute, so differential_sample omits them."""
    return (context.run_unittests("tests/differential") +
            context.run_script("tests/differential/run.py", "--tern", context.binary("tern"), "--cases", "5000", "--jobs", "2"))


def differential_sample(context):
    return context.run_script("tests/differential/run.py", "--tern", context.binary("tern"),
                              "--sample", context.path("tests/differential/sample.txt"))


# HOSTILE_OPS is the number of ops. The other two are the numbers of cases per op in a full run and in the sample. A test
# in tests/hostile checks HOSTILE_OPS and HOSTILE_SAMPLE.
HOSTILE_OPS, HOSTILE_FULL, HOSTILE_SAMPLE = 20, 150, 6


def hostile(context, *options):
    return (context.run_unittests("tests/hostile") +
            context.run_script("tests/hostile/run.py", "--tern", context.binary("tern"), *options))


def hostile_full(context):
    """The seed is derived from the date, so the cases are different each day."""
    seed = 1_000_000 * (int(time.time()) // 86400)
    return hostile(context, "--cases", str(HOSTILE_FULL), "--seed", str(seed))


def hostile_sample(context):
    return hostile(context, "--sample", context.path("tests/hostile/sample.txt"))


def exported_architectures(context):
    context.prepare("scripts/deps", "sweep")
    exported = context.root / ".cache" / "architectures"
    context.prepare("scripts/export_architectures", str(exported))
    return exported


def optimizer(context, script, *options):
    return context.run_script(f"tests/optimizer/{script}", "--tern", context.binary("tern"), *options)


def optimizer_full(context):
    """The results of the other optimizers are cached in peers.json, in the folder of the models. The other optimizers run only
    on models that are not in peers.json."""
    models = ("--models", exported_architectures(context))
    context.prepare("scripts/deps", "optimizer")
    return (optimizer_tests(context) + optimizer(context, "compare.py", *models) + optimizer(context, "stable.py", *models) +
            optimizer(context, "fused_counts.py", *models))


def optimizer_sample(context):
    models = ("--models", context.path("tests/data/architectures"), "--no-zoo")
    return optimizer_tests(context) + optimizer(context, "compare.py", *models) + optimizer(context, "stable.py", *models)


def optimizer_tests(context):
    return context.run_unittests("tests/optimizer")


def architectures_full(context):
    return context.run_script("tests/architectures/sweep.py", "--tern", context.binary("tern"), "--models",
                              exported_architectures(context))


def architectures_sample(context):
    return context.run_script("tests/architectures/sweep.py", "--tern", context.binary("tern"),
                              "--models", context.path("tests/data/architectures"))


# The suite fails if onnxruntime can run fewer cases than this: the first number in a full run, the second in the sample.
# A test in tests/estimators checks both numbers.
ESTIMATORS, ESTIMATORS_SAMPLE = 390, 16


def estimators_full(context):
    context.prepare("scripts/deps", "estimators")
    return run_estimators(context, "--least", str(ESTIMATORS))


def estimators_if_present(context):
    modules = ("sklearn", "pandas", "lightgbm", "xgboost", "skl2onnx", "onnxmltools")
    find = f"import importlib.util as u; print(*[m for m in {modules} if not u.find_spec(m)])"
    missing = subprocess.run([context.python, "-c", find], capture_output=True, text=True, check=True).stdout.split()
    if missing:
        say(f"SKIP estimators: {', '.join(missing)} missing; `tern test estimators` installs what it needs")
        return Counts(skipped=1)
    return run_estimators(context, "--sample", context.path("tests/estimators/sample.txt"), "--least", str(ESTIMATORS_SAMPLE))


def run_estimators(context, *options):
    return (context.run_unittests("tests/estimators") +
            context.run_script("tests/estimators/run.py", "--tern", context.binary("tern"), *options))


def browser_full(context):
    context.prepare("scripts/deps", "browser")
    return run_browser(context)


def browser_if_present(context):
    playwright = subprocess.run([context.python, "-c", "import playwright"], capture_output=True, check=False).returncode == 0
    missing = [name for name, there in (("chromium", shutil.which("chromium")), ("playwright", playwright)) if not there]
    if missing:
        say(f"SKIP browser: {' and '.join(missing)} missing; `tern test browser` installs what it needs")
        return Counts(skipped=1)
    return run_browser(context)


def run_browser(context):
    context.binary("tern")
    return context.run_unittests("tests/browser")


QEMU = ("qemu-aarch64", "-cpu", "max", "-L", "/usr/aarch64-linux-gnu")
SLOW_IN_QEMU = "Winograd.Accuracy*"  # these tests are slow, and they test rounding instead of the instruction set


def aarch64_full(context):
    """Runs the unit tests and cases of all modules that need no third-party library."""
    context.prepare("scripts/deps", "aarch64")
    context.prepare("scripts/build", "aarch64")
    binaries = context.root / "build" / "aarch64" / "bin"
    return (gtest.run_all(binaries, context.env, context.verbose, QEMU) +
            context.run(*QEMU, binaries / "tern_cases", context.path("tests/cases")))


def aarch64_kernels(context):
    if missing := [name for name in ("aarch64-linux-gnu-g++", "qemu-aarch64") if not shutil.which(name)]:
        say(f"SKIP aarch64: {' and '.join(missing)} missing; `tern test aarch64` installs what it needs")
        return Counts(skipped=1)
    context.prepare("scripts/build", "aarch64", "kernels_test")
    return gtest.run_binary(context.root / "build" / "aarch64" / "bin" / "kernels_test", context.env, context.verbose,
                            QEMU, [f"--gtest_filter=-{SLOW_IN_QEMU}"])


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    summary: str
    run: Callable[[Context], Counts]
    any_preset: bool = False  # runs by default with every --preset; other suites run by default only with release
    sample: Callable[[Context], Counts] | None = None  # replaces `run` when the command line names no suite


SUITES = [
    Suite("unit", "GoogleTest binaries beside the code", unit, any_preset=True),
    Suite("cases", "text cases of ops, passes, models, server", cases, any_preset=True),
    Suite("graphs", "10,000 random graphs, before and after optimization (by default: 300 fixed graphs)", graphs_full, any_preset=True,
          sample=graphs_sample),
    Suite("optimizer", "compares Tern's optimizer with three others, and checks that its results are stable (by default: on the "
          "stored models)", optimizer_full, sample=optimizer_sample),
    Suite("onnx", "the ONNX project's own backend tests", onnx),
    Suite("zoo", "published models: outputs against onnxruntime and against the stored outputs (needs TERN_ZOO)", zoo),
    Suite("accuracy", f"the labels of {PICTURES} pictures in bf16, compared with fp32 (needs TERN_ZOO; by default: {PICTURES_SAMPLE} pictures)",
          accuracy_full, sample=accuracy_sample),
    Suite("importers", "models of other frameworks, against these frameworks (by default: stored models and results)", importers_full,
          sample=stored),
    Suite("slow", f"memory use of a model with a file of {GIGABYTES} GB (by default: {GIGABYTES_SAMPLE} GB)",
          slow_full, sample=slow_sample),
    Suite("e2e", "the tern command as a user runs it", e2e),
    Suite("faults", "crashes, hangs, full disks, broken clients: every request gets one answer (by default: a sample, in e2e)", faults_full,
          sample=faults_in_e2e),
    Suite("swaps", f"{SWAPS} changes of a model's version under load, in both orders (by default: {SWAPS_SAMPLE})", swaps_full, sample=swaps_sample),
    Suite("images", "decoding, resizing and colours of pictures against Pillow", images),
    Suite("bench", "the benchmark's computations, tables and charts, with a fake engine; also kernels_bench", bench),
    Suite("python", "the Python package as a wheel (by default: in the build folder)", python_suites.python_wheel, sample=python_suites.python_in_tree),
    Suite("torch", "torch.compile(backend=\"tern\") and torch's tensors (by default: if torch and transformers are installed)", python_suites.torch_full,
          sample=python_suites.torch_if_present),
    Suite("browser", "the pages of tern optimize and tern profile in Chromium (by default: if it is installed)", browser_full,
          sample=browser_if_present),
    Suite("docs", "the documentation site and the code of its tutorials (by default: what the installed packages permit)", docs_full,
          sample=run_docs),
    Suite("examples", "the programs in examples/, against the outputs and pictures of their pages (needs TERN_ZOO; by default: what the "
          "installed packages permit)", examples_full, sample=run_examples),
    Suite("aarch64", "unit tests and cases built for 64-bit ARM, in qemu (by default: the kernels, if qemu is installed)",
          aarch64_full, sample=aarch64_kernels),
    Suite("mini", "mini libraries against the full one (by default: skipped, because it builds them)", mini_full,
          sample=mini_not_by_default),
    Suite("audio", "sound files and speech features against numpy, torch and soundfile (by default: without the last two, unless the "
          "suite has installed them)", audio_full, sample=run_audio),
    Suite("np", "the arrays of tern/np.hpp against numpy, on random arrays", numpy_functions),
    Suite("fuzz", "libFuzzer on every parser (by default: the stored inputs)", fuzz_full, sample=fuzz_sample),
    Suite("differential", "5,000 random operators against onnxruntime (by default: a fixed sample)", differential_full,
          sample=differential_sample),
    Suite("triton", "852 good and bad requests over HTTP and gRPC against Triton 2.51 (needs TRITON_HOME)", triton),
    Suite("kserve", "kserve's REST and gRPC clients (by default: if the suite has installed kserve)", kserve_full,
          sample=kserve_if_present),
    Suite("stores", "remote repositories against moto, an independent S3 (by default: if the suite has installed moto)", stores_full,
          sample=stores_if_present),
    Suite("deploy", "the container image, run in another root folder; the Helm chart, the KServe runtime and the systemd unit (by default: only "
          "the image, unless the suite has installed kubernetes-validate)", deploy_full, sample=run_deploy),
    Suite("openai", "OpenAI's Python client (by default: if the suite has installed openai)", openai_full, sample=openai_if_present),
    Suite("tfs", "the client of TensorFlow Serving, PyPI's tensorflow-serving-api (by default: if the suite has installed it)", tfs_full,
          sample=tfs_if_present),
    Suite("hostile", f"{HOSTILE_OPS * HOSTILE_FULL:,} models with extreme attributes against the reference evaluator "
          f"(by default: {HOSTILE_OPS * HOSTILE_SAMPLE} fixed models)", hostile_full, sample=hostile_sample),
    Suite("estimators", f"{ESTIMATORS} models of scikit-learn, LightGBM and XGBoost against onnxruntime (by default: "
          f"{ESTIMATORS_SAMPLE} of them, if the packages are installed)", estimators_full, sample=estimators_if_present),
    Suite("tokenizers", f"stored tokenizers; components and trained files on {TOKENIZER_LINES:,} lines against the package tokenizers "
          f"(by default: {TOKENIZER_LINES_SAMPLE} lines, if the package is installed)", tokenizers_full, sample=tokenizers_sample),
    Suite("architectures", "networks of the Python package transformers (by default: a few stored networks)", architectures_full,
          sample=architectures_sample),
]
