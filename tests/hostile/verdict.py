"""Checks tern's answer to a hostile model, and whether a run of many models computed enough of them."""

import dataclasses
import math
import re

import numpy as np

COMPUTED, REFUSED = 0, 2  # exit codes
# At least this share of all models must be computed. The actual share is about 0.7.
LEAST_COMPUTED = 0.6
# At least this share of the models of each op must be computed. The product with the number of models is rounded down.
# MaxUnpool has the smallest share, about 0.2.
LEAST_OF_AN_OP = 0.1

# A refusal must name a node or a constant. An error "resource exhausted" need not, because memory can be exhausted
# outside of nodes.
KINDS = "invalid model|invalid argument|unsupported|resource exhausted"
NODE = r"node '(?P<node>[^']*)' \([^)]*\)(?:, kernel [\w.]+)?: "
REFUSAL = re.compile(rf"tern: (?P<kind>{KINDS}): (?:{NODE})?(?P<why>.+) while: .*'(?P<model>[^']*)'")


@dataclasses.dataclass
class Answer:
    code: int
    said: str
    seconds: float
    outputs: dict  # by name


def bad_refusal(said, model, path):
    """Returns None if the message `said` of a refusal states the reason, the node and the model. Otherwise returns what
    is wrong with the message."""
    match = REFUSAL.fullmatch(said)
    if not match:
        return f"refused without a well-formed error: '{said}'"
    if match["model"] != str(path):
        return f"refused without the model's name: {said}"
    if match["node"]:
        names = {name for node in model.graph.node for name in node.output}
        known = match["node"].split("/")[0] in names  # the optimizer names new nodes OUTPUT/OP
    else:
        known = match["kind"] == "resource exhausted" or any(f"tensor '{t.name}'" in match["why"] for t in model.graph.initializer)
    return None if known else f"refused without a node of the model: {said}"


def bad_answer(answer, model, path):
    if answer.code == REFUSED:
        return bad_refusal(answer.said, model, path)
    if answer.code != COMPUTED:
        return f"exit {answer.code}: {answer.said}"
    wanted = {output.name for output in model.graph.output}
    return None if answer.outputs.keys() == wanted else f"outputs {sorted(answer.outputs)} of {sorted(wanted)}"


def differs(a, b, exact):
    for name in a:
        x, y = a[name], b[name]
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{name}: {x.dtype}{list(x.shape)} and {y.dtype}{list(y.shape)}"
        same = np.array_equal(x, y, equal_nan=x.dtype.kind == "f") if exact else np.allclose(x, y, 2e-4, 2e-4, equal_nan=True)
        if not same:
            return f"{name}: values differ"
    return None


def fault(answers, model, path):
    """Returns None if the answers are correct and agree. Otherwise returns an error. `answers` has the answers of the
    reference evaluator, of one thread and of two threads, in this order."""
    for who, answer in answers.items():
        if words := bad_answer(answer, model, path):
            return f"{who}: {words}"
    reference, one, two = answers.values()
    if not reference.code == one.code == two.code:
        return "; ".join(f"{who}: exit {a.code} {a.said if a.code else ''}" for who, a in answers.items())
    if words := differs(one.outputs, two.outputs, True):
        return f"1 and 2 threads: {words}"
    if words := differs(reference.outputs, one.outputs, False):
        return f"reference and kernels: {words}"
    return None


def unexpected(name, marks, expected):
    """Returns an error if the last mark of `marks` differs from the expected mark of the same seed, and otherwise None.
    `expected` maps ops to their marks, such as "++-". It is None if there is no sample."""
    if expected is None:
        return None
    op = name.split(":")[0]
    wanted = expected.get(op, "")[len(marks) - 1:len(marks)]
    words = {"+": "computed", "-": "refused", "": "not in the sample"}
    return None if wanted == marks[-1] else f"{words[marks[-1]]}, expected: {words[wanted]}"


def too_few(computed, cases, every_op):
    """Returns a message for each minimum share that was not reached. `computed` is a dict from op to the number of
    computed models. `cases` is the number of models per op. If `every_op`, also checks the share over all ops."""
    found = [f"{op}: {n} of {cases} computed, needs {least}" for op, n in computed.items()
             if n < (least := math.floor(LEAST_OF_AN_OP * cases))]
    if every_op and (n := sum(computed.values())) < (least := math.ceil(LEAST_COMPUTED * cases * len(computed))):
        found.append(f"{n} of {cases * len(computed)} computed, needs {least}")
    return found
