"""Tests that tern optimize --measure measures the graph that sessions run."""

import numpy as np
from onnx import helper

from support import FLOAT, CliTest, make_model


def convolutions():
    """Returns a model with two convolutions. Level layout converts them to channels last. The optimized graph therefore
    has two more Transposes than at level extended."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((32, 32, 3, 3)).astype(np.float32), "v": rng.standard_normal((32, 32, 3, 3)).astype(np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["h"], pads=[1] * 4), helper.make_node("Conv", ["h", "v"], ["y"], pads=[1] * 4)]
    return make_model(nodes, {"x": (FLOAT, ["N", 32, 16, 16])}, {"y": (FLOAT, ["N", 32, 16, 16])}, weights)


class Measure(CliTest):
    def test_what_sessions_run_is_timed(self):
        path = self.save(convolutions())
        ran = self.json("inspect", path, "--level", "layout", "--json")["nodes"]
        done = self.json("optimize", path, "--measure", "--seconds", 0, "--json")
        self.assertEqual([done["measured_level"], done["measured_nodes"]], ["layout", ran])
        self.assertNotEqual(done["nodes_after"], ran)
        self.assertGreater(done["measured_ms_after"], 0)
        self.assertIn("ms, level layout", self.ok("optimize", path, "--measure", "--seconds", 0).stdout)

    def test_a_level_that_is_given_is_timed(self):
        path = self.save(convolutions())
        done = self.json("optimize", path, "--measure", "--seconds", 0, "--level", "extended", "--json")
        self.assertEqual([done["measured_level"], done["measured_nodes"]], ["extended", done["nodes_after"]])

    def test_rules_that_are_left_out_stay_out(self):
        path = self.save(convolutions())
        done = self.json("optimize", path, "--measure", "--seconds", 0, "--disable", "ChannelsLast", "--json")
        self.assertEqual([done["measured_level"], done["measured_nodes"]], ["layout", done["nodes_after"]])
