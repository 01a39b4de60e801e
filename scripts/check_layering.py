#!/usr/bin/env python3
"""Fails if an #include violates the module map MODULES, or if a header contains `using namespace`."""

import pathlib
import posixpath
import re
import sys

from testlib.tree import CXX, HEADERS, read_text, source_files

# Module -> its direct dependencies. A module may also include the dependencies of its dependencies.
MODULES = {
    "base": [],
    "core": ["base"],
    "ir": ["core"],
    "load": ["ir"],
    "ops": ["ir"],
    "import": ["ops", "load", "data"],
    "export": ["import"],
    "passes": ["ops", "kernel_api"],
    "kernels": ["core"],
    "np": ["kernels"],
    "kernel_api": ["ir"],
    "codegen": ["ops", "kernel_api"],
    "runtime": ["passes", "kernel_api", "kernels", "codegen"],
    "generate": ["runtime"],
    "mini": ["load", "generate"],
    "train": ["passes", "runtime"],
    "compress": ["runtime", "train"],
    "data": ["core"],
    "pipeline": ["load", "generate", "data"],
    "quantize": ["compress", "load", "data", "export"],
    "server": ["pipeline"],
    "bindings": ["load", "export", "compress", "quantize", "server", "generate", "mini", "np"],
    "tools": ["bindings"],
}

# Prefix of third-party headers -> the modules that may include them. Tests and benchmarks may include any header.
THIRD_PARTY = {
    "hwy/": {"kernels"},
    "flatbuffers/": {"ir", "import"},
    "google/protobuf/": {"import", "export", "server"},
    "llvm/": {"codegen"},
    "xgboost/": {"codegen"},
    "cuda": {"kernels", "codegen"},
    "boost/": {"server"},
    "openssl/": {"server"},
    "nghttp2/": {"server"},
    "yaml-cpp/": {"server", "pipeline"},
    "simdjson.h": {"server", "tools", "data", "import"},
    "zlib.h": {"data", "server"},
    "CLI/": {"tools", "server"},
    "fmt/": {"tools", "server"},
    "spdlog/": {"tools", "server"},
    "jpeglib.h": {"data"},
    "png.h": {"data"},
    "pcre2.h": {"data"},
    "utf8proc.h": {"data"},
    "webp/": {"data"},
    "FLAC/": {"data"},
    "pybind11/": {"bindings"},
    "nanobind/": {"bindings"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[">]')
USING_NAMESPACE = re.compile(r"^\s*using\s+namespace\b")
TEST_FILE = re.compile(r"_(test|bench|fuzz)\.(cc|cu)$")


def reachable(module):
    """Returns the module and all its direct and indirect dependencies."""
    found, pending = set(), [module]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += MODULES[name]
    return found


def module_of(path):
    """Returns 'core' for src/core/x.h, 'tern' for a public header, None for other files outside src/."""
    parts = pathlib.PurePosixPath(path).parts
    if parts[:2] == ("src", "import") and parts[3:] == ("format.cc",):
        return "load"  # format.cc defines a row of the format table; the module load compiles it
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    return "tern" if parts[:2] == ("include", "tern") else None


def included_module(path, quote, target, known_paths):
    """Returns the module of the included file, or None if that file is outside src/."""
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    if quote == '"' and (beside in known_paths or target.startswith(".")):
        return module_of(beside)
    first, _, rest = target.partition("/")
    if rest and first in MODULES and (quote == '"' or f"src/{target}" in known_paths):
        return first
    return None


def check_include(path, module, quote, target, known_paths):
    """Returns an error message for one include, or None if the include is allowed."""
    to = included_module(path, quote, target, known_paths)
    if module == "tern":
        return f"a public header may not include {to}" if to in MODULES else None
    if to in MODULES and to not in reachable(module):
        allowed = sorted(reachable(module) - {module})
        return f"{module} may not include {to} (allowed: {', '.join(allowed) or 'nothing'})"
    if to is None and not TEST_FILE.search(path):
        for prefix, users in THIRD_PARTY.items():
            if target.startswith(prefix) and module not in users:
                return f"{module} may not include {target} (allowed in: {', '.join(sorted(users))})"
    return None


def check_file(path, text, known_paths):
    """Returns the errors of one file, each as 'path:line: message'."""
    path = str(path)
    module = module_of(path)
    if module is None:
        return []
    if module != "tern" and module not in MODULES:
        return [f"{path}:1: src/{module} is not in the module map"]
    complaints = []
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        wrong = check_include(path, module, *match.groups(), known_paths) if match else None
        if USING_NAMESPACE.match(line) and pathlib.PurePosixPath(path).suffix in HEADERS:
            wrong = "no `using namespace` in a header"
        if wrong:
            complaints.append(f"{path}:{number}: {wrong}")
    return complaints


def self_test():
    known = {"src/ir/graph.h", "src/core/tensor.h", "src/ops/activation/relu.h"}
    samples = [  # path, text, whether it must be refused
        ("src/core/a.cc", '#include "base/status.h"', False),
        ("src/core/a.cc", '#include "ir/graph.h"', True),
        ("src/core/a.cc", '#  include <ir/graph.h>', True),
        ("src/core/a.cc", '#include "../ir/graph.h"', True),
        ("src/ir/a.cc", '#include "base/status.h"', False),
        ("src/ir/a.cc", '#include "graph.h"', False),
        ("src/kernels/cpu/gemm/a.cc", '#include "ir/graph.h"', True),
        ("src/kernels/cpu/gemm/a.cc", '#include "hwy/highway.h"', False),
        ("src/passes/a.cc", '#include "runtime/plan/plan.h"', True),
        ("src/import/onnx/a.cc", '#include "passes/pipeline.h"', True),
        ("src/import/onnx/a.cc", '#include "load/importer.h"', False),
        ("src/import/onnx/format.cc", '#include "load/format.h"', False),
        ("src/import/onnx/format.cc", '#include "ops/ops.h"', True),
        ("src/load/a.cc", '#include "ir/graph.h"', False),
        ("src/load/a.cc", '#include "ops/ops.h"', True),
        ("src/load/a.cc", '#include "import/onnx/importer.h"', True),
        ("src/server/a.cc", '#include "load/load.h"', False),
        ("src/runtime/a.cc", '#include "codegen/lower.h"', False),
        ("src/codegen/a.cc", '#include "kernel_api/kernel_table.h"', False),
        ("src/kernel_api/a.cc", '#include "runtime/plan/plan.h"', True),
        ("src/runtime/a.cc", '#include "import/onnx/load.h"', True),
        ("src/runtime/a.cc", "#include <google/protobuf/message.h>", True),
        ("src/runtime/a_test.cc", "#include <gtest/gtest.h>", False),
        ("src/runtime/a_test.cc", '#include "import/onnx/load.h"', True),
        ("src/data/a.cc", '#include "ir/graph.h"', True),
        ("src/server/a.cc", '#include "data/image/image.h"', False),
        ("src/server/a.cc", '#include "train/loop.h"', True),
        ("src/tools/a.cc", '#include "bindings/c/api.h"', False),
        ("src/tools/a.cc", '#include "compress/quantize.h"', False),
        ("src/bindings/c/a.cc", '#include "tools/run.h"', True),
        ("src/misc/a.cc", "", True),
        ("src/core/a.h", "using namespace std;", True),
        ("src/core/a.cc", "using namespace std;", False),
        ("include/tern/tern.hpp", '#include "core/tensor.h"', True),
        ("include/tern/tern.hpp", '#include "tern/tern.h"', False),
        ("tests/runner/a.cc", '#include "runtime/plan/plan.h"', False),
    ]
    failures = [f"{path}: {text!r} should {'fail' if refused else 'pass'}" for path, text, refused in samples
                if bool(check_file(path, text, known)) != refused]
    failures += [f"{name} depends on itself" for name in MODULES
                 if any(name in reachable(below) for below in MODULES[name])]
    failures += [f"tools does not depend on {name}" for name in sorted(set(MODULES) - reachable("tools"))]
    for failure in failures:
        print(f"self-test: {failure}")
    print(f"layering self-test: {len(samples)} samples, {len(failures)} failures")
    return 1 if failures else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print("usage: check_layering.py [--self-test]", file=sys.stderr)
        return 2
    paths = [path for path in source_files() if path.suffix in CXX | {".inc"}]
    known = {path.as_posix() for path in paths}
    complaints = [text for path in paths for text in check_file(path.as_posix(), read_text(path) or "", known)]
    for complaint in complaints:
        print(complaint)
    print(f"layering: {len(paths)} files, {len(complaints)} violations")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
