"""What there is to the peers without any of them: their names, and models converted for ncnn by a program that stands in for pnnx."""

import json
import os
import pathlib
import sys
import tempfile
import types
import unittest

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import machine  # noqa: E402
import options  # noqa: E402
import report  # noqa: E402
from engines import DEFAULT_PEERS, PEERS, ncnn_files  # noqa: E402

SCRIPT = """
            ex.input("in0", ncnn.Mat(in0.numpy(), batch_index=0).clone())
            ex.input("in1", ncnn.Mat(in1.numpy(), batch_index=1).clone())

            _, out0 = ex.extract("out0")
            out.append(torch.from_numpy(out0.numpy(batch_index=0)))
            _, out1 = ex.extract("out1")
            out.append(torch.from_numpy(out1.numpy(batch_index=233)))
"""
GRAPH = """7767517
5 4
pnnx.Input               in0                      0 1 0 #0=(1,3,4,4)f32
pnnx.Input               in1                      0 1 1 #1=(2,1)i64
nn.GRU                   gru                      2 2 0 1 16 7 #0=(1,3,4,4)f32
pnnx.Output              out0                     1 0 16 #16=(1,10)f32
pnnx.Output              out1                     1 0 7 #7=(1,1,400)f32
"""
STAND_IN = f"""#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
cat > model_ncnn.py <<'END'{SCRIPT}END
cat > model.pnnx.param <<'END'
{GRAPH}END
echo layers > model.ncnn.param
cat model.onnx > model.ncnn.bin
"""


class Peers(unittest.TestCase):
    def test_all_have_a_module_a_package_and_a_name(self):
        for peer, module in PEERS.items():
            self.assertTrue((pathlib.Path(ncnn_files.__file__).parent / f"{module}.py").exists(), peer)
            self.assertIn(peer, machine.PACKAGES)
            self.assertIn(peer, report.NAMES)

    def test_no_module_hides_a_package(self):
        here = {path.stem for path in pathlib.Path(ncnn_files.__file__).parent.iterdir()}  # child.py's folder, where Python looks first
        self.assertEqual(here & {*machine.PACKAGES.values(), "pnnx"}, set())

    def test_ncnn_takes_part_where_it_is_asked_for(self):
        self.assertEqual(DEFAULT_PEERS, {"fp32": ("ort", "openvino", "mnn"), "bf16": ("openvino",)})
        self.assertEqual(options.peers_in("ort,ncnn"), ("ort", "ncnn"))


class Layout(unittest.TestCase):
    def test_batch_axes_and_dims(self):
        self.assertEqual(ncnn_files.layout(SCRIPT, GRAPH), {"inputs": [0, 1], "outputs": [[0, [1, 10]], [233, [1, 1, 400]]]})

    def test_open_dims_are_not_told(self):
        graph = GRAPH.replace("(1,10)", "(1,?)").replace("#7=(1,1,400)f32", "")
        self.assertEqual(ncnn_files.layout(SCRIPT, graph)["outputs"], [[0, None], [233, None]])

    def test_a_scalar_has_no_dims(self):
        self.assertEqual(ncnn_files.layout(SCRIPT, GRAPH.replace("(1,10)", "()"))["outputs"][0], [0, []])


class Converted(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="tern_bench_")
        self.addCleanup(holder.cleanup)
        self.dir = pathlib.Path(holder.name)
        self.model = self.dir / "net.v1.onnx"
        self.model.write_text("weights")
        os.utime(self.model, (1, 1))
        self.stand_in(STAND_IN)

    def stand_in(self, text):
        self.program = self.dir / "pnnx"
        self.program.write_text(text)
        self.program.chmod(0o755)

    def converted(self, image=(1, 3, 4, 4), version="7"):
        inputs = {"image": np.zeros(image, np.float32), "ids": np.zeros((2, 1), np.int64)}
        job = types.SimpleNamespace(model=str(self.model), cache=str(self.dir), inputs=inputs)
        return ncnn_files.converted(job, self.program, version)

    def asked(self):
        return (self.dir / "asked").read_text().splitlines()

    def kept(self):
        return sorted(path.name for path in (self.dir / "ncnn").iterdir())

    def test_only_what_ncnn_reads_is_kept(self):
        target = self.converted()
        self.assertEqual(self.asked(), ["model.onnx inputshape=[1,3,4,4]f32,[2,1]i64 fp16=0"])
        self.assertEqual(sorted(path.name for path in target.iterdir()), ["layout.json", "model.ncnn.bin", "model.ncnn.param"])
        self.assertEqual((target / "model.ncnn.bin").read_text(), "weights")
        self.assertEqual(json.loads((target / "layout.json").read_text()), ncnn_files.layout(SCRIPT, GRAPH))
        self.assertEqual(self.kept(), [target.name])
        self.assertEqual(self.model.read_text(), "weights")

    def test_once_for_each_model_dims_and_version(self):
        first = self.converted()
        self.assertEqual((self.converted(), len(self.asked())), (first, 1))
        self.assertNotEqual(self.converted(image=(1, 3, 8, 8)), first)
        self.assertNotEqual(self.converted(version="8"), first)
        self.assertEqual((len(self.asked()), len(self.kept())), (3, 3))

    def test_again_where_the_model_is_newer(self):
        first = self.converted()
        self.model.write_text("other weights")
        os.utime(first, (1, 1))
        self.assertEqual((self.converted() / "model.ncnn.bin").read_text(), "other weights")
        self.assertEqual(len(self.kept()), 1)

    def test_a_refusal_says_how_and_leaves_nothing(self):
        for text, words in (("#!/bin/sh\nkill -SEGV $$\n", "killed by SIGSEGV"), ("#!/bin/sh\nexit 3\n", "exit status 3"),
                            ("#!/bin/sh\n", "exit status 0")):
            self.stand_in(text)
            with self.assertRaisesRegex(RuntimeError, f"pnnx refuses the model: {words}"):
                self.converted()
            self.assertEqual(self.kept(), [])


if __name__ == "__main__":
    unittest.main()
