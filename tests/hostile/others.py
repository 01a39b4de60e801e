"""Models with ops other than convolutions and pooling, such as Resize, Slice and Attention."""



import numpy as np
from onnx import TensorProto


def resize(d):
    rank = d.pick([1, 2, 2, 3])
    channels, sizes = d.pick([0, 1, 4, 16]), d.dims(rank)
    x = d.image(channels, sizes)
    mode = d.pick(["nearest", "linear", "cubic"])
    attrs = {"mode": mode, "antialias": d.int(0, 1) if mode != "nearest" else None,
             "coordinate_transformation_mode": d.pick(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel",
                                                       "half_pixel_symmetric", "tf_crop_and_resize"]),
             "nearest_mode": d.pick(["floor", "ceil", "round_prefer_floor", None]),
             "exclude_outside": d.pick([0, 0, 1]) if mode == "cubic" else None,
             "cubic_coeff_a": d.pick([-0.75, 10.0, float("nan")]) if mode == "cubic" and d.chance(0.3) else None,
             "keep_aspect_ratio_policy": d.pick([None, None, "not_larger", "not_smaller"])}
    roi = ""
    if attrs["coordinate_transformation_mode"] == "tf_crop_and_resize" or d.chance(0.1):
        numbers = [0.0, 0.5, 1.0, -3.0, 1e30, float("nan"), float("inf"), -1e18, 2.0**31]
        roi = d.constant(np.array([d.pick(numbers[:3] if d.chance(0.7) else numbers) for _ in range(2 * rank + 4)], np.float32))
    if d.chance(0.5):
        wanted = [d.number(0.02, 0.8) if d.chance(0.1) else d.int(1, 12) for _ in range(rank)]
        y = d.node("Resize", [x, roi, "", d.ints([1, channels, *wanted])], **attrs)
        return d.model(d.after(y, channels, rank))
    scales = [d.pick([1e-9, 1e-3, 0.3, 0.5, 2.0, 3.7, 1e4, 1e9, 1e30, float("inf"), float("nan"), -1.0, 0.0]) if d.chance(0.15)
              else d.pick([0.3, 0.5, 1.0, 2.0, 3.7]) for _ in range(rank)]
    y = d.node("Resize", [x, roi, d.constant(np.array([1, 1, *scales], np.float32))], **attrs)
    return d.model(d.after(y, channels, rank))


def slice_(d):
    rank = d.pick([1, 2, 2])
    channels, sizes = d.pick([1, 4, 16]), d.dims(rank)
    x = d.image(channels, sizes)
    axes = [int(a) for a in d.rng.permutation(rank + 2)[:d.int(1, rank + 2)]]
    edge = [0, 1, 2, -1, -2, 5, 100, 2**31, -(2**31), 2**63 - 1, -(2**63), -(2**63) + 1]
    starts, ends = [[d.pick(edge) for _ in axes] for _ in range(2)]
    steps = [d.pick([1, 1, 2, -1, -3, 2**31, 2**63 - 1, -(2**63), -(2**63) + 1, 0 if d.chance(0.1) else 1]) for _ in axes]
    axes = [a - rank - 2 if d.chance(0.3) else a for a in axes]
    if d.chance(0.03):
        axes[0] = d.pick([99, -99, 2**31, 2**63 - 1, -(2**63)])
    given = [d.ints(starts), d.ints(ends), d.ints(axes), d.ints(steps)]
    if d.chance(0.3):
        given[0] = d.node("Identity", [d.input([len(axes)], TensorProto.INT64)])
    y = d.node("Slice", [x, *given[:d.pick([4, 4, 3])]])
    return d.model(d.after(y, channels, rank) if d.chance(0.3) else y)


def pad(d):
    rank = d.pick([1, 2, 2])
    channels, sizes = d.pick([1, 4, 16]), d.dims(rank)
    x = d.image(channels, sizes)
    mode = d.pick(["constant", "constant", "reflect", "edge", "wrap"])
    axes = [int(a) for a in d.rng.permutation(rank + 2)[:d.int(1, rank + 2)]]
    usual = [0, 0, 1, 2, 5, -1, -2]
    pads = [d.pick([2**31, -(2**31), 2**62, -(2**62), 2**63 - 1, -(2**63), 10**6, 100]) if d.chance(0.08) else d.pick(usual)
            for _ in range(2 * len(axes))]
    y = d.node("Pad", [x, d.ints(pads), "" if d.chance(0.5) else d.constant(np.float32(3)), d.ints(axes)], mode=mode)
    return d.model(y)


def grid_sample(d):
    rank = d.pick([2, 2, 3])
    channels, sizes, out = d.pick([0, 1, 4, 16]), d.dims(rank), d.dims(rank)
    batch = d.pick([0, 1, 2])
    x = d.input([batch, channels, *sizes])
    grid = d.rng.uniform(-2, 2, [batch, *out, rank]).astype(np.float32)
    wild = [1e30, -1e30, np.inf, -np.inf, np.nan, 2.0**31, 2.0**63, 1e9]
    for i in range(grid.size):
        if d.chance(0.2):
            grid.flat[i] = d.pick(wild)
    attrs = {"mode": d.pick(["linear", "nearest", "cubic"]), "padding_mode": d.pick(["zeros", "border", "reflection"]),
             "align_corners": d.int(0, 1)}
    return d.model(d.node("GridSample", [x, d.constant(grid)], **attrs))


def recurrent(d, op, gates):
    directions = 2 if (way := d.pick(["forward", "reverse", "bidirectional"])) == "bidirectional" else 1
    length, batch, size, hidden = d.pick([0, 1, 3, 9]), d.pick([0, 1, 2, 5]), d.pick([0, 1, 4, 17]), d.pick([0, 1, 4, 17])
    layout = d.pick([0, 0, 1])
    x = d.input([batch, length, size] if layout else [length, batch, size])
    inputs = [x, d.floats([directions, gates * hidden, size]), d.floats([directions, gates * hidden, hidden])]
    inputs.append(d.floats([directions, 2 * gates * hidden]) if d.chance(0.6) else "")
    lengths = [d.pick([0, 1, 2, length]) if d.chance(0.9) else d.pick([-1, length + 1, 2**31 - 1, -(2**31)]) for _ in range(batch)]
    inputs.append(d.constant(np.array(lengths, np.int32)) if d.chance(0.5) else "")
    if d.chance(0.3):
        inputs.append(d.floats([batch, directions, hidden] if layout else [directions, batch, hidden]))
    attrs = {"direction": way, "layout": layout or None, "clip": d.pick([None, None, 0.5, 0.0, -1.0, float("nan"), float("inf")]),
             "hidden_size": hidden if d.chance(0.93) else d.number(wild=0.7)}
    if op == "GRU":
        attrs["linear_before_reset"] = d.int(0, 1)
    return d.model(d.node(op, inputs, d.int(1, 2) if d.chance(0.5) else 2, **attrs) if d.chance(0.5) else d.node(op, inputs, **attrs))


def attention(d):
    heads, kv = d.pick([(1, 1), (2, 2), (4, 2), (6, 3), (3, 2)])
    batch, queries, keys = d.pick([0, 1, 2]), d.pick([0, 1, 3, 5, 70]), d.pick([0, 1, 3, 40, 1100])
    size, value = d.pick([0, 1, 4, 16]), d.pick([0, 1, 4, 33])
    attrs = {"scale": d.pick([None, 0.0, 1e30, float("nan"), -1.0]) if d.chance(0.3) else None,
             "is_causal": d.int(0, 1), "softcap": d.pick([0.0, 3.0, 1e-30, -1.0, float("nan")]) if d.chance(0.3) else None}
    if d.chance(0.5):
        q, k, v = d.input([batch, heads, queries, size]), d.input([batch, kv, keys, size]), d.input([batch, kv, keys, value])
    else:
        q, k, v = d.input([batch, queries, heads * size]), d.input([batch, keys, kv * size]), d.input([batch, keys, kv * value])
        attrs |= {"q_num_heads": heads, "kv_num_heads": kv}
        if d.chance(0.1):
            attrs[d.pick(["q_num_heads", "kv_num_heads"])] = d.number(wild=0.7)
    inputs = [q, k, v]
    if d.chance(0.5):
        mask = [d.pick([1, batch]), d.pick([1, heads]), d.pick([1, queries]), d.pick([keys, max(0, keys - 1), 1, 0])][d.int(0, 2):]
        inputs.append(d.constant(d.rng.random(mask) < 0.5) if d.chance(0.5) else d.floats(mask))
    return d.model(d.node("Attention", inputs, **attrs))


def blocks(d):
    op = d.pick(["DepthToSpace", "SpaceToDepth"])
    channels, sizes = d.pick([0, 4, 16, 36]), [d.pick([0, 1, 2, 4, 6]) for _ in range(2)]
    x = d.image(channels, sizes)
    block = d.pick([1, 2, 2, 3]) if d.chance(0.8) else d.number(wild=0.5)
    return d.model(d.node(op, [x], blocksize=block))


def tile(d):
    rank = d.int(1, 4)
    dims = d.dims(rank, most=4)
    repeats = [d.pick([0, 1, 2, 3]) if d.chance(0.9) else d.number(wild=0.4) for _ in dims]
    x = d.input(dims)
    return d.model(d.node("Tile", [x, d.ints(repeats)]))


def lrn(d):
    sizes = d.dims(2)
    x = d.image(channels := d.pick([0, 1, 4, 16]), sizes)
    return d.model(d.after(d.node("LRN", [x], size=d.number(wild=0.2), alpha=d.pick([1e-4, 1e30, 0.0])), channels, 2))


def roi_align(d):
    channels, sizes, count = d.pick([0, 1, 4]), d.dims(2), d.pick([0, 1, 3])
    x = d.input([d.pick([0, 1, 2]), channels, *sizes])
    edges = [0.0, 1.0, 3.0, 8.0]
    wild = [1e9, -1e9, 1e30, float("nan"), float("inf"), -float("inf")]
    rois = [[d.pick(wild) if d.chance(0.05) else d.pick(edges) for _ in range(4)] for _ in range(count)]
    indices = [d.pick([0, 0, 1, -1, 2**31]) if d.chance(0.1) else 0 for _ in range(count)]
    attrs = {"output_height": d.number(0.05, 0.95), "output_width": d.number(0.05, 0.95), "mode": d.pick(["avg", "max"]),
             "sampling_ratio": d.pick([0, 0, 1, 2]) if d.chance(0.9) else d.number(0.3, 0.3), "spatial_scale": d.pick([1.0, 0.5, 1e-30, 1e30])}
    rois = d.constant(np.array(rois, np.float32).reshape(count, 4))
    return d.model(d.node("RoiAlign", [x, rois, d.ints(indices)], **attrs))


def split(d):
    rank = d.int(1, 4)
    dims = d.dims(rank)
    axis = d.int(-rank, rank - 1)
    x = d.input(dims)
    if d.chance(0.5):
        outputs = d.int(1, 4)
        return d.model(d.node("Split", [x], outputs, axis=axis, num_outputs=outputs if d.chance(0.9) else d.number(wild=0.6)))
    sizes = [d.int(0, dims[axis]), d.pick([0, -1, 2**31, 2**63 - 1]) if d.chance(0.2) else 0]
    sizes.append(min(max(-(2**63), dims[axis] - sum(sizes)), 2**63 - 1))
    return d.model(d.node("Split", [x, d.ints(sizes)], 3, axis=axis))


OPS = {"Resize": resize, "Slice": slice_, "Pad": pad, "GridSample": grid_sample, "Attention": attention, "Blocks": blocks, "Tile": tile,
       "LRN": lrn, "RoiAlign": roi_align, "Split": split,
       "RNN": lambda d: recurrent(d, "RNN", 1), "GRU": lambda d: recurrent(d, "GRU", 3), "LSTM": lambda d: recurrent(d, "LSTM", 4)}
