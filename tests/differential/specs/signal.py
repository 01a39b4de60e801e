"""Fourier transforms and window functions."""

from fuzz.case import Const
from fuzz.registry import op, op_each
from fuzz.values import enum


@op_each(["HannWindow", "HammingWindow", "BlackmanWindow"])
def window(d):
    size = d.scalar(d.choice(["int32", "int64"]), d.int(1 if d.chance(0.1) else 2, 20))
    kind = d.choice(["float", "float", "double"])
    attrs = {"periodic": d.maybe(d.int(0, 1)), "output_datatype": enum(kind) if kind != "float" else d.maybe(enum(kind))}
    return d.case([size], attrs, atol=1e-6)  # onnxruntime's coefficients are floats even if the output is double


@op("MelWeightMatrix")
def mel_weight_matrix(d):
    kind = d.choice(["int32", "int64"])
    rate = d.choice([8000, 16000, 22050])
    low = d.uniform(0, 200)
    inputs = [d.scalar(kind, d.int(2, 10)), d.scalar(kind, d.choice([64, 128, 256])), d.scalar(kind, rate),
              d.scalar("float", low), d.scalar("float", d.uniform(2000, rate / 2))]
    kind = d.choice(["float", "double"])
    return d.case(inputs, {"output_datatype": enum(kind) if kind != "float" else d.maybe(enum(kind))})


@op("DFT", weight=3)
def dft(d):
    """Draws a transform of any length along any axis except the last. The last axis contains the real and imaginary
    parts."""
    dtype = d.dtype("T1", only=("float", "double"))
    inverse, onesided = d.chance(0.4), d.chance(0.3)
    parts = 1 if onesided or (d.chance(0.4) and not inverse) else 2
    if onesided and inverse:
        inverse = False
    shape = [d.int(1, 3)] + [d.int(1, 9) for _ in range(d.int(1, 2))] + [parts]
    axis = d.int(1, len(shape) - 2)
    length = d.maybe(d.scalar(d.choice(["int32", "int64"]), d.int(1, 10)), 0.3)
    attrs = {"inverse": 1 if inverse else d.maybe(0), "onesided": 1 if onesided else d.maybe(0)}
    signed = d.sign_axis(axis, len(shape))
    x = d.tensor(dtype, shape)
    if d.since < 20:
        return d.case([x, length], {**attrs, "axis": signed}, scale=20)
    place = None if axis == len(shape) - 2 and d.chance(0.4) else d.scalar("int64", signed)
    return d.case([x, length, place], attrs, scale=20)


@op("STFT", weight=2)
def stft(d):
    dtype = d.dtype("T1", only=("float", "double"))
    frame = d.int(2, 12)
    step = d.int(1, 6)
    length = frame + step * d.int(0, 4) + d.int(0, 2)
    onesided = d.chance(0.6)
    parts = d.choice([0, 1]) if onesided or d.chance(0.5) else 2
    shape = [d.int(1, 2), length] + ([parts] if parts else [1])
    kind = d.choice(["int32", "int64"])
    window_in = d.maybe(d.tensor(dtype, [frame], low=0, high=1), 0.6)
    size = d.scalar(kind, frame) if window_in is None or d.chance(0.5) else None
    attrs = {"onesided": d.maybe(1) if onesided else 0}
    return d.case([d.tensor(dtype, shape), Const(d.scalar(kind, step)), window_in, size], attrs, scale=20)
