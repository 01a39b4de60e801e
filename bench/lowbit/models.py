"""The int8 files of a network: one per engine, made once and kept in the cache folder."""

import pathlib
import subprocess
import tempfile

from lowbit import calibration, ort_quantize

HERE = pathlib.Path(__file__).resolve().parent
ENDINGS = {"tern": ".tern", "ort": ".onnx", "openvino": ".xml"}


class NotMade(Exception):
    """Raised if an engine's tool does not quantize the model. The message is one line."""


def run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise NotMade(lines[0][:300] if lines else f"exit status {done.returncode}")


def with_tern(entry, source, samples, target, tools):
    mode = ["--dynamic"] if calibration.is_text(entry) else ["--calib", samples, "--preprocess", "none"]
    run([tools.tern, "quantize", source, "-o", target, *mode])


def with_ort(entry, source, samples, target, tools):
    try:
        ort_quantize.quantize(entry, source, target)
    except Exception as error:
        raise NotMade(" ".join(f"{type(error).__name__}: {error}".split())[:300]) from None


def with_nncf(entry, source, samples, target, tools):
    if not tools.nncf:
        raise NotMade("--nncf names no Python with nncf and openvino")
    run([tools.nncf, HERE / "nncf_quantize.py", source, samples, target, "text" if calibration.is_text(entry) else "image"])


MAKERS = {"tern": with_tern, "ort": with_ort, "openvino": with_nncf}


def made(engine, name, entry, tools):
    """Returns the path of the int8 model of an engine. A file that is newer than the model, and than the tern binary if Tern made
    it, is used again."""
    source = (tools.cache / entry["file"]).resolve()
    target = tools.cache / "int8" / engine / f"{name}{ENDINGS[engine]}"
    needs = [source, *([tools.tern] if engine == "tern" else [])]
    if target.exists() and all(target.stat().st_mtime > path.stat().st_mtime for path in needs):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench") as folder:
        samples = pathlib.Path(folder) / "samples.npz"
        calibration.store(entry, samples)
        MAKERS[engine](entry, source, samples, target, tools)
    return target
