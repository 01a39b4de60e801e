"""Compares the type stubs with the package."""

import ast
import inspect
import pathlib
import unittest

import tern

STUB = pathlib.Path(tern.__file__).with_name("__init__.pyi")


def parameters(function):
    """Returns the names of a stub's parameters; * and ** have prefixes."""
    a = function.args
    names = [arg.arg for arg in a.posonlyargs + a.args]
    names += ["*" + a.vararg.arg] if a.vararg else []
    names += [arg.arg for arg in a.kwonlyargs]
    return names + (["**" + a.kwarg.arg] if a.kwarg else [])


def real_parameters(function):
    prefix = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [prefix.get(p.kind, "") + p.name for p in inspect.signature(function).parameters.values()]


class Stubs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = ast.parse(STUB.read_text(encoding="utf-8"))
        cls.classes = {item.name: item for item in cls.tree.body if isinstance(item, ast.ClassDef) and not item.name.startswith("_")}
        cls.functions = {item.name: item for item in cls.tree.body if isinstance(item, ast.FunctionDef)}

    def test_every_public_name_has_a_stub(self):
        stubs = {*self.classes, *self.functions, "InferenceSession", "__version__"}
        self.assertEqual(sorted(stubs), sorted(tern.__all__))

    def test_members_of_classes(self):
        for name, stub in self.classes.items():
            members = {item.name for item in stub.body if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))}
            members |= {item.target.id for item in stub.body if isinstance(item, ast.AnnAssign)}
            real = getattr(tern, name)
            self.assertEqual(sorted(m for m in members if not hasattr(real, m)), [], name)
            inherited = set().union(*(dir(base) for base in (tuple, dict, OSError)))
            public = {m for m in dir(real) if not m.startswith("_")} - inherited
            self.assertEqual(sorted(public - members), [], name)

    def test_bases_of_exceptions(self):
        for name, stub in self.classes.items():
            if issubclass(getattr(tern, name), tern.Error):
                self.assertEqual([base.id for base in stub.bases], [base.__name__ for base in getattr(tern, name).__bases__], name)

    def test_parameters(self):
        checked = 0
        pairs = [(f, getattr(tern, name)) for name, f in self.functions.items()]
        for name, stub in self.classes.items():
            for f in stub.body:
                if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) and not f.decorator_list and not f.name.startswith("__"):
                    pairs.append((f, getattr(getattr(tern, name), f.name)))
        for stub, real in pairs:
            if "**options" in parameters(stub) or stub.name == "load":
                continue  # the stub names the options
            with self.subTest(stub.name):
                if inspect.isfunction(real):
                    self.assertEqual(parameters(stub), real_parameters(real))
                else:
                    self.check_signature(stub, real.__doc__)
                checked += 1
        self.assertGreater(checked, 25)

    def check_signature(self, stub, doc):
        """The first line of a docstring of the extension module is the function's signature."""
        for name in parameters(stub):
            self.assertIn(name, doc.splitlines()[0], stub.name)


if __name__ == "__main__":
    unittest.main()
