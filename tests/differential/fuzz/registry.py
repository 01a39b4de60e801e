"""The table of operators under test. A spec file registers its generators here with the decorators `op` and
`op_each`."""

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
        """The operator's name in a case id and on the command line."""
        return f"{self.domain}.{self.name}" if self.domain else self.name

    @property
    def salt(self):
        return zlib.crc32(self.key.encode())


OPS = {}


def op(name, since=None, domain="", weight=1.0, last=None):
    """Registers a function `generate(draw) -> Case`. `since` defaults to all versions of the operator in the ONNX
    schemas. The number of cases is proportional to `weight`, which is larger for operators with many variants."""

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
    """Imports every file of specs/, which registers its generators."""
    folder = pathlib.Path(__file__).resolve().parent.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    for path in sorted((folder / "specs").glob("*.py")):
        if path.stem != "__init__":
            importlib.import_module(f"specs.{path.stem}")
    return OPS
