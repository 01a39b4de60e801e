"""Lists all tested estimators. There is one module per family. Each module has a list CASES."""

from . import boosting, linear, neighbours, pipelines, preprocessing, several, svm, text, trees, unsupervised

MODULES = (linear, trees, boosting, svm, neighbours, unsupervised, preprocessing, text, several, pipelines)


def cases():
    found = [case for module in MODULES for case in module.CASES]
    names = [case.name for case in found]
    assert len(set(names)) == len(names), f"several cases have the name {sorted({n for n in names if names.count(n) > 1})}"
    return found
