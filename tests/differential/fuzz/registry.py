"""The table of operators under test; a spec file registers its generators here by decorator."""

import importlib
import pathlib
import sys
import zlib
from dataclasses import dataclass

from . import kernels

CONTRIB = "com.microsoft"
ML = "ai.onnx.ml"


@dataclass(frozen=True)
class OpSpec:
    name: str
    domain: str
    since: tuple
    last: int
    weight: float
    generate: object

    @property
    def key(self):
        """How a case id and the command line name the operator."""
        return f"{self.domain}.{self.name}" if self.domain else self.name

    @property
    def salt(self):
        return zlib.crc32(self.key.encode())


OPS = {}


def op(name, since=None, domain="", weight=1.0, last=None):
    """Registers `generate(draw) -> Case`. `since` defaults to every version the ONNX schemas list;
    `weight` is the operator's share of the cases, for operators with many variants."""

    def register(generate):
        versions = tuple(since) if since else kernels.since_versions(domain, name)
        spec = OpSpec(name, domain, versions, last or kernels.last_version(domain, name), weight, generate)
        assert spec.key not in OPS, f"{spec.key} is registered twice"
        OPS[spec.key] = spec
        return generate

    return register


def op_each(names, **options):
    """Registers one generator for several operators of the same form."""

    def register(generate):
        for name in names:
            op(name, **options)(generate)
        return generate

    return register


def load_specs():
    """Imports every file of specs/: a file's existence is its registration."""
    folder = pathlib.Path(__file__).resolve().parent.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    for path in sorted((folder / "specs").glob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(f"specs.{path.stem}")
    return OPS
