"""The suites of the server: clients of other projects, other servers, repositories, deployment."""

from .environments import install
from .process import run_with_summary, say
from .results import Counts


def triton(context):
    """The script counts one skipped test if TRITON_HOME is not set."""
    return context.run_script("tests/server/differential/run.py", "--tern", context.binary("tern"))


SWAPS, SWAPS_SAMPLE = 1000, 40


def swap(context, count):
    return context.run_script("tests/server/lifecycle/swaps.py", "--tern", context.binary("tern"), "--swaps", str(count))


def swaps_full(context):
    return swap(context, SWAPS)


def swaps_sample(context):
    return swap(context, SWAPS_SAMPLE)


def kserve_python(context):
    return context.root / "build" / "kserve" / "bin" / "python"


def kserve_full(context):
    """kserve has an environment of its own, because its dependencies contradict the pins of other suites."""
    install(context, kserve_python(context), "scripts/requirements-kserve.txt", "kserve")
    return run_kserve(context)


def kserve_if_present(context):
    if not (kserve_python(context).parents[1] / "installed.txt").exists():
        say("SKIP kserve: kserve missing; `tern test kserve` installs it")
        return Counts(skipped=1)
    return run_kserve(context)


def run_kserve(context):
    context.binary("tern")
    verbose = ["--verbose"] if context.verbose else []
    env = dict(context.env, TERN_KSERVE_PYTHON=str(kserve_python(context)))
    script = [context.python, context.path("scripts/testlib/unittest_main.py"), context.path("tests/kserve"), *verbose]
    return run_with_summary(script, env=env, verbose=context.verbose, cwd=context.root)


def stores_python(context):
    return context.root / "build" / "stores" / "bin" / "python"


def stores_full(context):
    """moto has an environment of its own, because it has many dependencies."""
    install(context, stores_python(context), "scripts/requirements-stores.txt", "moto")
    return run_stores(context)


def stores_if_present(context):
    if not (stores_python(context).parents[1] / "installed.txt").exists():
        say("SKIP stores: moto missing; `tern test stores` installs it")
        return Counts(skipped=1)
    return run_stores(context)


def run_stores(context):
    context.binary("tern")
    verbose = ["--verbose"] if context.verbose else []
    env = dict(context.env, TERN_STORES_PYTHON=str(stores_python(context)))
    script = [context.python, context.path("scripts/testlib/unittest_main.py"), context.path("tests/stores"), *verbose]
    return run_with_summary(script, env=env, verbose=context.verbose, cwd=context.root)


def deploy_python(context):
    return context.root / "build" / "deploy" / "bin" / "python"


def deploy_full(context):
    install(context, deploy_python(context), "scripts/requirements-deploy.txt", "kubernetes-validate")
    return run_deploy(context)


def run_deploy(context):
    """Validates the manifests if the suite has installed kubernetes-validate."""
    context.binary("tern")
    counts = context.run_unittests("tests/deploy")
    if not (deploy_python(context).parents[1] / "installed.txt").exists():
        say("SKIP deploy/manifests: kubernetes-validate missing; `tern test deploy` installs it")
        return counts + Counts(skipped=1)
    verbose = ["--verbose"] if context.verbose else []
    script = [deploy_python(context), context.path("scripts/testlib/unittest_main.py"), context.path("tests/manifests"), *verbose]
    return counts + run_with_summary(script, env=context.env, verbose=context.verbose, cwd=context.root)


def openai_python(context):
    return context.root / "build" / "openai" / "bin" / "python"


def openai_full(context):
    install(context, openai_python(context), "scripts/requirements-openai.txt", "openai")
    return run_openai(context)


def openai_if_present(context):
    if not (openai_python(context).parents[1] / "installed.txt").exists():
        say("SKIP openai: openai missing; `tern test openai` installs it")
        return Counts(skipped=1)
    return run_openai(context)


def run_openai(context):
    context.binary("tern")
    verbose = ["--verbose"] if context.verbose else []
    env = dict(context.env, TERN_OPENAI_PYTHON=str(openai_python(context)))
    script = [context.python, context.path("scripts/testlib/unittest_main.py"), context.path("tests/openai"), *verbose]
    return run_with_summary(script, env=env, verbose=context.verbose, cwd=context.root)


def tfs_python(context):
    return context.root / "build" / "tfs" / "bin" / "python"


def tfs_full(context):
    """tensorflow-serving-api depends on TensorFlow with CUDA. It is installed beside tensorflow-cpu, without its dependencies."""
    install(context, tfs_python(context), "scripts/requirements-tfs.txt", "tensorflow-serving-api", "scripts/requirements-tfs-api.txt")
    return run_tfs(context)


def tfs_if_present(context):
    if not (tfs_python(context).parents[1] / "installed.txt").exists():
        say("SKIP tfs: tensorflow-serving-api missing; `tern test tfs` installs it")
        return Counts(skipped=1)
    return run_tfs(context)


def run_tfs(context):
    context.binary("tern")
    verbose = ["--verbose"] if context.verbose else []
    env = dict(context.env, TERN_TFS_PYTHON=str(tfs_python(context)))
    script = [context.python, context.path("scripts/testlib/unittest_main.py"), context.path("tests/tfs"), *verbose]
    return run_with_summary(script, env=env, verbose=context.verbose, cwd=context.root)
