"""Sequences and optionals of tensors."""

from fuzz.registry import op
from fuzz.values import EXOTIC, Opt, Seq, enum, type_of
from onnx import helper

ELEMENTS = ["float", "double", "int32", "int64", "bool", "string", "float16", "uint8"]


def sequence(d, at_least=0, dtype=None):
    dtype = dtype or d.choice(ELEMENTS)
    return Seq(dtype, [d.tensor(dtype, d.shape(0, 3)) for _ in range(d.int(at_least, 4))])


def position(d, low, high):
    place = d.int(low, high)
    return d.scalar(d.choice(["int32", "int64"]), place)


@op("SequenceConstruct")
def sequence_construct(d):
    dtype = d.choice(ELEMENTS)
    return d.case([d.tensor(dtype, d.shape()) for _ in range(d.int(1, 4))])


@op("SequenceEmpty", weight=0.5)
def sequence_empty(d):
    return d.case([], {"dtype": d.maybe(enum(d.choice([e for e in ELEMENTS if e not in EXOTIC])))})


@op("SequenceAt")
def sequence_at(d):
    seq = sequence(d, at_least=1)
    n = len(seq.items)
    return d.case([seq, position(d, -n, n - 1)])


@op("SequenceErase")
def sequence_erase(d):
    seq = sequence(d, at_least=1)
    n = len(seq.items)
    return d.case([seq, d.maybe(position(d, -n, n - 1), 0.7)])


@op("SequenceInsert")
def sequence_insert(d):
    seq = sequence(d)
    n = len(seq.items)
    return d.case([seq, d.tensor(seq.dtype, d.shape()), d.maybe(position(d, -n, n), 0.7)])


@op("SequenceLength")
def sequence_length(d):
    return d.case([sequence(d)])


@op("SplitToSequence", weight=1.5)
def split_to_sequence(d):
    shape = d.shape(1, 4, dim=8, zero=0)
    axis = d.axis(len(shape))
    size = shape[axis]
    kind = d.choice(["int32", "int64"])
    form = d.choice(["none", "even", "list"])
    lengths = None
    if form == "even":
        lengths = d.scalar(kind, d.int(1, size))
    elif form == "list":
        marks = sorted(d.int(0, size) for _ in range(d.int(0, 3)))
        lengths = d.ints([b - a for a, b in zip([0, *marks], [*marks, size])], kind)
    attrs = {"axis": axis if axis or d.chance(0.5) else None,
             "keepdims": d.maybe(d.int(0, 1)) if form == "none" else None}
    dtype = d.choice(["float", "double", "int32", "int64", "string"])
    return d.case([d.tensor(dtype, shape), lengths], attrs, const=0.4)


@op("ConcatFromSequence")
def concat_from_sequence(d):
    shape = d.shape(1, 3, zero=0)
    new = d.chance(0.4)
    rank = len(shape) + new
    axis = d.int(0, rank - 1)
    dtype = d.choice(ELEMENTS)
    items = []
    for _ in range(d.int(1, 4)):
        if not new:
            shape[axis] = d.int(1, 4)
        items.append(d.tensor(dtype, shape))
    attrs = {"axis": d.sign_axis(axis, rank), "new_axis": 1 if new else d.maybe(0)}
    return d.case([Seq(dtype, items)], attrs)


def optional(d, present=None):
    kind = sequence(d) if d.chance(0.3) else d.tensor(d.choice(ELEMENTS), d.shape())
    return Opt(kind, d.chance(0.7) if present is None else present)


@op("Optional")
def optional_(d):
    """Optional wraps a value, or makes an empty optional of a given type."""
    if d.chance(0.3):
        return d.case([], {"type": type_of(d.tensor("float", [2]))})
    return d.case([sequence(d, at_least=1) if d.chance(0.3) else d.tensor(d.choice(ELEMENTS), d.shape())])


@op("OptionalHasElement")
def optional_has_element(d):
    if d.since >= 18 and d.chance(0.4):
        return d.case([d.tensor("float", d.shape()) if d.chance(0.7) else None])
    return d.case([optional(d)])


@op("OptionalGetElement")
def optional_get_element(d):
    if d.since >= 18 and d.chance(0.4):
        return d.case([d.tensor("float", d.shape())])
    return d.case([optional(d, present=True)])


def _body(node_op, dtype, **attrs):
    info = helper.make_tensor_value_info("item", enum(dtype), None)
    out = helper.make_tensor_value_info("mapped", enum(dtype), None)
    return helper.make_graph([helper.make_node(node_op, ["item"], ["mapped"], **attrs)], "body", [info], [out])


@op("SequenceMap")
def sequence_map(d):
    seq = sequence(d, at_least=1, dtype=d.choice(["float", "int32"]))
    return d.case([seq], {"body": _body(d.choice(["Neg", "Abs", "Identity"]), seq.dtype)})
