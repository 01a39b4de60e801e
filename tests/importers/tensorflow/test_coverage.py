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
# Operators of every SavedModel, of the control flow, of variables and of tables, which test_control.py, test_keras_*.py and test_zoo.py use
# through TensorFlow's interface, and their old forms, which have the same converters.
ELSEWHERE = {"AnonymousHashTable", "Assert", "Assign", "AssignVariableOp", "Case", "Const", "ControlTrigger", "Enter", "Exit", "HashTable", "HashTableV2", "If",
             "InitializeTable", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "InitializeTableV2", "LookupTableExport", "LookupTableExportV2",
             "LookupTableFind", "LookupTableFindV2", "LookupTableImport", "LookupTableImportV2", "LookupTableSize", "LookupTableSizeV2", "LoopCond", "Merge",
             "MutableHashTable", "MutableHashTableV2", "NextIteration", "NoOp", "PartitionedCall", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Print",
             "PrintV2", "ReadVariableOp", "RefEnter", "RefExit", "RefIdentity", "RefMerge", "RefNextIteration", "RefSwitch", "RestoreV2", "ShardedFilename",
             "StatefulPartitionedCall", "StatelessCase", "StatelessIf", "StatelessWhile", "Switch", "VarHandleOp", "Variable", "VariableV2", "While"}


class Coverage(unittest.TestCase):
    def test_every_imported_operator_is_tested(self):
        imported = {o["name"] for o in json.loads(tern("ops", "--format", "tensorflow", "--json"))["operators"] if o["imported"]}
        tested = set(ELSEWHERE)
        for module in TABLES:
            tested |= set(module.OPS)
        texts = " ".join((HERE / f"test_{name}.py").read_text() for name in ("control", "ops_gather", "ops_nn"))
        tested |= {a or b for a, b in re.findall(r"raw(?:_ops)?\.(\w+)|test_(\w+)", texts)}
        arrays = {name for name in imported if name.startswith("TensorArray") or name in ("TensorListReserve", "TensorListSetItem")}
        self.assertEqual(sorted(imported - tested - arrays), [])
        self.assertGreaterEqual(len(imported), 324)
