"""Every operator that Tern imports has a test."""

import json
import pathlib
import re
import unittest

import test_ops_elementwise
import test_ops_gather
import test_ops_image
import test_ops_misc
import test_ops_nn
import test_ops_shape
from run_model import tern

HERE = pathlib.Path(__file__).resolve().parent
TABLES = [test_ops_elementwise, test_ops_gather, test_ops_image, test_ops_misc, test_ops_nn, test_ops_shape]
# Operators of every SavedModel and of the control flow of TF1, which test_control.py and test_tables.py use through TensorFlow's interface, and the
# forms of tables that need an eager context.
ELSEWHERE = {"AnonymousHashTable", "AssignVariableOp", "Const", "Placeholder", "PlaceholderV2", "ReadVariableOp", "RestoreV2", "ShardedFilename", "VarHandleOp"}


class Coverage(unittest.TestCase):
    def test_every_imported_operator_is_tested(self):
        imported = {o["name"] for o in json.loads(tern("ops", "--format", "tensorflow", "--json"))["operators"] if o["imported"]}
        tested = set(ELSEWHERE)
        for module in TABLES:
            tested |= set(module.OPS)
        texts = " ".join((HERE / f"test_{name}.py").read_text() for name in ("control", "ops_gather", "ops_nn", "tables"))
        tested |= {a or b for a, b in re.findall(r"raw(?:_ops)?\.(\w+)|test_(\w+)", texts)}
        arrays = {name for name in imported if name.startswith("TensorArray") or name in ("TensorListReserve", "TensorListSetItem")}
        self.assertEqual(sorted(imported - tested - arrays), [])
        self.assertGreaterEqual(len(imported), 324)
