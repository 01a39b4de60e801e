"""Runs the examples in the docstrings of the package."""

import doctest
import importlib
import pathlib
import pkgutil
import unittest

import numpy
import support
import tern


class Docstrings(unittest.TestCase):
    def test_examples(self):
        names = [info.name for info in pkgutil.iter_modules(tern.__path__, "tern.") if info.name not in ("tern.__main__", "tern._tern")]
        total = 0
        for name in ["tern", *names]:
            try:
                module = importlib.import_module(name)
            except ModuleNotFoundError as error:
                self.assertEqual((name, error.name), ("tern.torch", "torch"))  # the only module with a package of its own
                continue
            scope = dict(vars(module), tern=tern, np=numpy, numpy=numpy, digits=str(support.DIGITS))
            result = doctest.testmod(module, extraglobs=scope, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
            self.assertEqual(result.failed, 0, name)
            total += result.attempted
        self.assertGreater(total, 15)

    def test_every_public_name_is_documented(self):
        for name in tern.__all__:
            if name != "__version__":
                self.assertTrue((getattr(tern, name).__doc__ or "").strip(), name)

    def test_files_are_in_the_package(self):
        folder = pathlib.Path(tern.__file__).parent
        self.assertTrue((folder / "py.typed").exists())


if __name__ == "__main__":
    unittest.main()
