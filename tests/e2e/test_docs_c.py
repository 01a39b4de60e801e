"""Tests the C fragments of the documentation: compiles them with all warnings and runs them."""

import os
import pathlib
import subprocess
import unittest

import onnx
from onnx import TensorProto, helper

from docs_pages import ROOT, blocks, written_pages
from support import TERN, CliTest

LIBRARY = pathlib.Path(TERN).resolve().parents[1] / "lib"
DIGITS = ROOT / "examples/digits/digits.onnx"

MAIN = """
int main(int argc, char** argv) {
  TernStatus* (*const examples[])(TernPredictor*) = {%s};
  TernConfig* config = tern_config_new();
  tern_config_set_model_path(config, argv[2]);
  if (argc > 3) tern_config_set_states(config, argv[3]);
  TernPredictor* predictor = NULL;
  TernStatus* status = tern_predictor_create(config, &predictor);
  if (!status) status = examples[atoi(argv[1])](predictor);
  if (status) fprintf(stderr, "%%s\\n", tern_status_message(status));
  tern_status_free(status);
  tern_predictor_free(predictor);
  tern_config_free(config);
  return status ? 1 : 0;
}
"""


def tensor(name, dtype, *dims):
    return helper.make_tensor_value_info(name, dtype, list(dims))


def words():
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "words", [tensor("x", TensorProto.STRING, "N")],
                              [tensor("y", TensorProto.STRING, "N")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def labels():
    """A model with the outputs of a scikit-learn classifier that was converted with zipmap."""
    names = ["setosa", "versicolor", "virginica"]
    maps = helper.make_value_info("output_probability", helper.make_sequence_type_proto(helper.make_map_type_proto(
        TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))))
    nodes = [helper.make_node("Softmax", ["x"], ["p"]),
             helper.make_node("ZipMap", ["p"], ["output_probability"], domain="ai.onnx.ml", classlabels_strings=names)]
    graph = helper.make_graph(nodes, "labels", [tensor("x", TensorProto.FLOAT, "N", 3)], [maps])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)


def counter():
    graph = helper.make_graph([helper.make_node("Add", ["past", "x"], ["present"]), helper.make_node("Neg", ["present"], ["y"])], "counter",
                              [tensor("x", TensorProto.FLOAT, 1), tensor("past", TensorProto.FLOAT, 1)],
                              [tensor("y", TensorProto.FLOAT, 1), tensor("present", TensorProto.FLOAT, 1)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Snippets(CliTest):
    def compile(self, text, name):
        source, program = self.dir / f"{name}.c", self.dir / name
        source.write_text(text)
        done = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", f"-I{ROOT}/include", source, "-o", program,
                               f"-L{LIBRARY}", "-ltern", f"-Wl,-rpath,{LIBRARY}"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_program(self, *command):
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=120, cwd=ROOT,
                              env=dict(os.environ, TERN_CACHE_DIR=str(self.dir)))
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{command}\n{done.stdout}")
        return done.stdout

    def model_of(self, text):
        """Returns the arguments of the program for a snippet: the model, and its states."""
        if "copy_strings" in text:
            return [self.save(words(), "words.onnx")]
        if "output_probability" in text:
            return [self.save(labels(), "labels.onnx")]
        return [self.save(counter(), "counter.onnx"), "past=present"] if "get_state" in text else [DIGITS]

    def test_function_bodies_run(self):
        found = [block for page in written_pages() for block in blocks(page, "c") if "int main(" not in block.text]
        self.assertGreater(len(found), 6)
        bodies = "".join(f'#line {block.line + 1} "{block.page.relative_to(ROOT)}"\nstatic TernStatus* Example{i}(TernPredictor* predictor) {{\n'
                         f"{block.text}}}\n" for i, block in enumerate(found))
        program = self.compile("#include <stdio.h>\n#include <stdlib.h>\n#include <tern/tern.h>\n" + bodies +
                               MAIN % ", ".join(f"Example{i}" for i in range(len(found))), "snippets")
        printed = ""
        for i, block in enumerate(found):
            with self.subTest(block=block.place):
                printed += self.run_program(program, i, *self.model_of(block.text))
        for text in ("3 rows of 10", "image is f32[N,1,28,28]", "arctic tern", "virginica 0.665", "after 3 runs: 3", "request 17", "cpu."):
            self.assertIn(text, printed)

    def test_programs_run(self):
        found = [block for page in written_pages() for block in blocks(page, "c") if "int main(" in block.text]
        self.assertGreater(len(found), 0)
        for i, block in enumerate(found):
            with self.subTest(block=block.place):
                numbers = list(map(float, self.run_program(self.compile(block.text, f"app{i}")).split()))
                self.assertEqual(len(numbers), 10)
                self.assertAlmostEqual(sum(numbers), 1, places=2)


if __name__ == "__main__":
    unittest.main()
