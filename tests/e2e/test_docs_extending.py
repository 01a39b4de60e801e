"""Builds Tern with the examples of docs/extending, as a contributor would, and runs the result.

The sources of the checkout are linked into a scratch folder, and the examples are added to them. Only the new files and the generated
tables (cmake/collect.cmake) are compiled. All other objects come from the tested build.
"""

import functools
import itertools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import numpy as np
from docs_pages import ROOT, blocks
from onnx import helper
from support import FLOAT, TERN, CliTest, make_model

BUILD = pathlib.Path(TERN).resolve().parents[1]
PAGES = sorted((ROOT / "docs/extending").glob("*.md"))
# Maps a module to (the target that lists its sources, the macro that cmake/collect.cmake searches for, the kind of the
# generated table, a file whose compiler flags are used for new files).
TABLES = {"src/ops": ("tern_ops", "TERN_OP", "ops", "src/ops/elementwise/gelu.cc"),
          "src/passes": ("tern_passes", "TERN_RULE", "rules", "src/passes/algebra/negation.cc"),
          "src/runtime": ("tern_runtime", "TERN_KERNELS", "kernels", "src/runtime/bind/elementwise.cc"),
          "src/import/onnx": ("tern_import_onnx", "TERN_CONVERTERS", "converters", "src/import/onnx/ops/elementwise.cc"),
          "src/load": ("tern_load", "TERN_FORMAT", "formats", "src/load/tern_format.cc"),
          "src/tools": ("tern", "TERN_TOOL", "tools", "src/tools/convert.cc")}
# Maps a program or library to the modules that it links. Only modules to which an example adds files are listed.
PROGRAMS = {"bin/tern_rules": ["src/ops", "src/passes"],
            "bin/tern_cases": ["src/ops", "src/passes", "src/kernels", "src/runtime"],
            "lib/libtern.so": ["src/ops", "src/passes", "src/kernels", "src/runtime", "src/load"],
            "lib/libtern_onnx.so": ["src/import/onnx"],
            "lib/libtern_pipeline.so": [],
            "lib/libtern_quantize.so": [],
            "bin/import_onnx_test": ["src/load", "src/import/linear", "tests"],
            "bin/tern": ["src/tools"]}
TEST_LIKE = "src/import/onnx/raw_spans_test.cc"
SIMD_LIKE = "src/kernels/cpu/resize/resize_simd.cc"


@functools.cache
def new_files():
    return {block.file: block for page in PAGES for block in blocks(page) if block.file}


@functools.cache
def compile_commands():
    """Returns the compiler commands by source. The sources of a unit (cmake/TernUnity.cmake) have the unit's command."""
    found = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        unit = "/Unity/unity_" in entry["file"]
        sources = re.findall(r'#include "(.*)"', pathlib.Path(entry["file"]).read_text()) if unit else [entry["file"]]
        for source in sources:
            found.setdefault(os.path.relpath(source, ROOT), []).append(shlex.split(entry["command"]))
    return found


def module_of(name):
    """Returns the module of TABLES or PROGRAMS to which a new file belongs. A format.cc of an importer belongs to
    src/load. All tests belong to the module "tests"."""
    parts = name.split("/")
    if name.endswith("_test.cc"):
        return "tests"
    if parts[1] != "import":
        return "/".join(parts[:2])
    return "src/load" if parts[-1] == "format.cc" else "/".join(parts[:3])


def importers():
    """Returns the formats that the examples add."""
    return [name.split("/")[2] for name in new_files() if name.startswith("src/import/") and name.endswith("/library.cc")]


def flags_of(command):
    """Returns a compiler command without its source and object files."""
    words, kept = iter(command), []
    for word in words:
        if word in ("-o", "-c"):
            next(words)
        else:
            kept.append(word)
    return kept


class Extending(CliTest):
    def setUp(self):
        super().setUp()
        self.objects = {}  # by module
        shutil.copytree(ROOT / "src", self.dir / "src", copy_function=os.symlink)
        for name, block in new_files().items():
            self.assertFalse((ROOT / name).exists(), f"{block.place}: {name} is there already")
            (self.dir / name).parent.mkdir(parents=True, exist_ok=True)
            (self.dir / name).write_text(block.text)

    def compile(self, module, source, command):
        """Compiles `source` with the compiler command of another file. Headers are read from the scratch folder."""
        made = self.objects.setdefault(module, [])
        target = self.dir / f"{module.replace('/', '_')}_{len(made)}.o"
        words = [word.replace(f"-I{ROOT}/src", f"-I{self.dir}/src") for word in flags_of(command)]
        done = subprocess.run([*words, "-c", source, "-o", target], cwd=BUILD, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{source.relative_to(self.dir)}\n{done.stderr}")
        made.append(str(target))

    def compile_examples(self):
        for name in new_files():
            if not name.endswith(".cc"):
                continue
            module = module_of(name)
            like = TABLES[module][3] if module in TABLES else TEST_LIKE if module == "tests" else "src/import/onnx/library.cc"
            like = SIMD_LIKE if name.endswith("_simd.cc") else like
            commands = compile_commands()[like] if like == SIMD_LIKE else compile_commands()[like][:1]
            for command in commands:
                self.compile(module, self.dir / name, command)

    def compile_tables(self):
        """Generates and compiles the tables of all sources, including the new ones."""
        for module, (target, macro, kind, like) in TABLES.items():
            listed = (BUILD / module / f"{target}_{kind}.sources").read_text().split()
            listed = [line.replace(f"{ROOT}/", f"{self.dir}/") for line in listed]
            listed += [str(self.dir / name) for name in new_files() if module_of(name) == module and name.endswith(".cc")]
            sources, output = self.dir / f"{kind}.sources", self.dir / f"{kind}.cc"
            sources.write_text("\n".join(listed) + "\n")
            self.call("cmake", f"-DSOURCES={sources}", f"-DMACRO={macro}", f"-DKIND={kind}", f"-DOUTPUT={output}", "-DTARGET=tern_import_onnx", f"-DROOT={self.dir / module}",
                      "-P", ROOT / "cmake/collect.cmake")
            self.compile(module, output, compile_commands()[like][0])

    def link(self, name):
        """Links a program or library of the build with the new objects. If a library defines the same symbol, the new
        object takes precedence."""
        made = os.path.relpath((BUILD / name).resolve(), BUILD)
        commands = [line for line in self.call("ninja", "-C", BUILD, "-t", "commands", name).splitlines() if f" -o {made} " in line]
        words = shlex.split(commands[-1])
        words = words[words.index("&&") + 1:]  # ninja prints the command as ": && c++ … && :"
        words = [word for word in words[:words.index("&&")] if not word.endswith("tern_tools.generated.cc.o")]
        at, program = words.index("-o"), self.dir / made
        program.parent.mkdir(exist_ok=True)
        new = [path for module in PROGRAMS[name] for path in self.objects.get(module, [])]
        libraries = [self.in_place_of(word) for word in words[at + 2:]]
        self.call(*words[:at], *new, "-Wl,-z,muldefs", "-o", program, *libraries, cwd=BUILD)
        return program

    def in_place_of(self, word):
        """Returns the linker argument `word`. If it names a library of the build, returns the library of the scratch
        folder instead."""
        if word.startswith("-Wl,-rpath,"):
            return word.replace(str(BUILD), str(self.dir))
        return str(self.dir / word) if re.fullmatch(r"lib/libtern\w*\.so[.0-9]*", word) else word

    def link_tern(self):
        """Links the command and the libraries that it loads."""
        library = self.link("lib/libtern.so")
        (library.parent / "libtern.so.0").symlink_to(library)
        for name in importers():
            compiler = itertools.takewhile(lambda word: not word.startswith("-"), compile_commands()["src/import/onnx/library.cc"][0])
            self.call(*compiler, "-shared", *self.objects[f"src/import/{name}"], "-o", library.parent / f"libtern_{name}.so", library)
        self.link("lib/libtern_onnx.so")
        for name in ("pipeline", "quantize"):
            linked = self.link(f"lib/libtern_{name}.so")
            (linked.parent / f"libtern_{name}.so.0").symlink_to(linked)
        return self.link("bin/tern")

    def call(self, *command, **kwargs):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=300, **kwargs)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def write_cases(self, language, folder):
        """Writes the code blocks of a language to files in `folder`, and returns the folder."""
        found = [block for page in PAGES for block in blocks(page, language)]
        self.assertTrue(found, language)
        folder.mkdir(parents=True, exist_ok=True)
        for i, block in enumerate(found):
            (folder / f"docs_{i}.{language}").write_text(block.text)
        return folder

    def check_model(self, tern):
        """Checks that models with the new operators compute correct results, and that the new op runs on its kernel."""
        nodes = [helper.make_node("Snake", ["x"], ["s"], name="snake", domain="com.example", alpha=2.0),
                 helper.make_node("LogCosh", ["s"], ["y"], domain="com.example")]
        model = make_model(nodes, {"x": (FLOAT, [5])}, {"y": (FLOAT, [5])})
        model.opset_import.append(helper.make_opsetid("com.example", 1))
        x = np.array([-2, -1, 0, 1, 3], np.float32)
        path = self.save(model)
        self.call(tern, "run", path, "--input", f"x={self.npy('x.npy', x)}", "--output-dir", self.dir)
        snake = x + np.sin(2 * x) ** 2 / 2
        np.testing.assert_allclose(np.load(self.dir / "y.npy"), np.log(np.cosh(snake)), rtol=1e-4, atol=1e-6)
        layers = json.loads(self.call(tern, "inspect", path, "--json"))["layers"]
        self.assertEqual([layer["kernel"] for layer in layers if layer["op"] == "Snake"], ["cpu.snake.f32"])

    def check_python(self, tern):
        """Runs the tests that the pages show."""
        for i, block in enumerate(block for page in PAGES for block in blocks(page, "python")):
            (self.dir / f"test_docs_{i}.py").write_text(block.text)
            env = dict(os.environ, TERN_BIN=str(tern), PYTHONPATH=str(ROOT / "tests/e2e"))
            self.call(sys.executable, "-m", "unittest", f"test_docs_{i}", cwd=self.dir, env=env)

    def test_the_examples_build_and_run(self):
        self.compile_examples()
        self.compile_tables()
        self.assertRegex(self.call(self.link("bin/tern_cases"), self.write_cases("case", self.dir / "cases")), r"\b0 failed")
        shutil.copytree(ROOT / "tests/cases/rule", self.dir / "rules")
        self.assertRegex(self.call(self.link("bin/tern_rules"), self.write_cases("rule", self.dir / "rules")), r"\b0 failed")
        self.assertRegex(self.call(self.link("bin/import_onnx_test"), "--gtest_filter=Linear.*"), r"2 tests? ran|PASSED +\] 2")
        tern = self.link_tern()
        self.check_model(tern)
        self.check_python(tern)
        digits = ROOT / "examples/digits/digits.onnx"
        self.assertEqual(self.call(tern, "symbols", digits), "N\n")
        self.assertEqual(json.loads(self.call(tern, "symbols", digits, "--json")), {"symbols": ["N"]})

    def test_every_source_is_a_new_file(self):
        """Checks that every C++ block on these pages is a new file, so that a test compiles it."""
        wrong = [block.place for page in PAGES for block in blocks(page, "cpp") if not block.file]
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
