// Converts operators that read or change shapes.
#include <algorithm>

#include "import/tensorflow/layout.h"
#include "import/tensorflow/ops/elementwise.h"

namespace tern::tensorflow {
namespace {

// Returns the shape that the tensor has in TensorFlow: without the last axis of a complex tensor, which holds
// the parts.
Value* ShapeAt(TfNode& n, int i) {
  if (n.IsComplex(i)) return n.Op("Shape", {n.In(i)}, {{"end", -1}});
  return n.ShapeOf(n.In(i));
}

Status Shape(TfNode& n) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("out_type"));
  for (int i = 0; i < n.InputCount(); ++i) n.Out(i, n.Cast(ShapeAt(n, i), to));
  return {};
}

Status Size(TfNode& n) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("out_type"));
  Value* size = n.Op("Size", {n.In(0)});
  if (n.IsComplex(0)) size = n.Binary("div", size, n.Like(size, 2));
  n.Out(0, n.Cast(size, to));
  return {};
}

Status Rank(TfNode& n) {
  TERN_ASSIGN(int rank, n.RankOf(0));
  if (n.IsComplex(0)) --rank;
  n.Out(0, n.b.Scalar(DType::kI32, rank));
  return {};
}

Value* WithParts(TfNode& n, int i, Value* shape) {
  Value* wide = n.Cast(shape, DType::kI64);
  return n.IsComplex(i) ? n.Concat({wide, n.b.Ints({2})}, 0) : shape;
}

Edge Same(TfNode& n, int i, Value* v) {
  Edge e(v);
  e.complex = n.IsComplex(i);
  return e;
}

Status Reshape(TfNode& n) {
  n.Out(0, Same(n, 0, n.Op("Reshape", {n.In(0), WithParts(n, 0, n.In(1))}, {{"allow_zero", true}})));
  return {};
}

Status ExpandDims(TfNode& n) {
  TERN_ASSIGN(int64_t axis, n.Long(1, "axis"));
  if (n.IsComplex(0) && axis < 0) --axis;
  n.Out(0, Same(n, 0, n.Unsqueeze(n.In(0), {axis})));
  return {};
}

Status Squeeze(TfNode& n) {
  auto axes = n.Ints("squeeze_dims");
  if (n.IsComplex(0))
    for (int64_t& axis : axes) axis -= axis < 0;
  if (!axes.empty()) {
    n.Out(0, Same(n, 0, n.Squeeze(n.In(0), axes)));
    return {};
  }
  const auto& shape = n.In(0)->type.shape;
  if (!shape.ranked) return n.NotYet("the rank of the input is unknown");
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    if (!shape.dims[i].known()) return n.NotYet("axes must be given for an input of unknown dims");
    if (shape.dims[i].Is(1)) axes.push_back(static_cast<int64_t>(i));
  }
  n.Out(0, Same(n, 0, axes.empty() ? n.In(0) : n.Squeeze(n.In(0), axes)));
  return {};
}

// Maps an axis of TensorFlow's layout to the layout with channels first.
int64_t FirstAxis(int64_t axis, int rank) { return axis == 0 ? 0 : axis == rank - 1 ? 1 : axis + 1; }

Status ConcatInputs(TfNode& n, int first, int last, int axis_input) {
  if (first == last) return n.Bad("there are no tensors to concatenate");
  const int parts = n.IsComplex(first) ? 1 : 0;
  const int rank = n.At(first).type().shape.rank();
  if (rank < 0) return n.NotYet("the rank of the inputs is unknown");
  TERN_ASSIGN(const int64_t axis, n.Axis(axis_input, rank - parts));
  bool channels_first = rank >= 3 && !parts;
  for (int i = first; i < last; ++i) channels_first = channels_first && n.PrefersChannelsFirst(i);
  std::vector<Value*> values;
  for (int i = first; i < last; ++i) values.push_back(channels_first ? n.ChannelsFirst(i) : n.In(i));
  if (values.size() == 1)
    n.Out(0, n.At(first));
  else if (channels_first)
    n.OutChannelsFirst(0, n.Concat(values, FirstAxis(axis, rank)));
  else
    n.Out(0, Same(n, first, n.Concat(values, axis)));
  return {};
}

Status Concat(TfNode& n) { return ConcatInputs(n, 1, n.InputCount(), 0); }
Status ConcatV2(TfNode& n) { return ConcatInputs(n, 0, n.InputCount() - 1, n.InputCount() - 1); }

Status Pack(TfNode& n) {
  int64_t axis = n.Int("axis");
  if (n.InputCount() == 0) return n.Bad("there are no tensors to stack");
  if (n.IsComplex(0) && axis < 0) --axis;
  std::vector<Value*> parts;
  for (int i = 0; i < n.InputCount(); ++i) parts.push_back(n.Unsqueeze(n.In(i), {axis}));
  n.Out(0, Same(n, 0, n.Concat(parts, axis)));
  return {};
}

Status Unpack(TfNode& n) {
  const int64_t count = n.Int("num");
  int64_t axis = n.Int("axis");
  if (n.IsComplex(0) && axis < 0) --axis;
  if (count < 0 || count > 100000) return n.Bad("num is ", count);
  Value* x = n.In(0);
  for (int64_t i = 0; i < count; ++i) {
    Value* part = x->type.shape.rank() == 1
                      ? n.Op("Gather", {x, n.b.Scalar(DType::kI64, static_cast<double>(i))}, {{"axis", axis}})
                      : n.Squeeze(n.Slice(x, axis, i, i + 1), {axis});
    n.Out(static_cast<int>(i), Same(n, 0, part));
  }
  return {};
}

Status SplitParts(TfNode& n, int input, int64_t axis, const std::vector<int64_t>& sizes) {
  const bool channels_first = n.PrefersChannelsFirst(input);
  const int rank = n.At(input).type().shape.rank();
  if (sizes.size() == 1) {
    n.Out(0, n.At(input));
    return {};
  }
  Value* x = channels_first ? n.ChannelsFirst(input) : n.In(input);
  const auto parts =
      n.Ops("Split", {x, n.b.Ints(sizes)}, {{"axis", channels_first ? FirstAxis(axis, rank) : axis}},
            static_cast<int>(sizes.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (channels_first)
      n.OutChannelsFirst(static_cast<int>(i), parts[i]);
    else
      n.Out(static_cast<int>(i), Same(n, input, parts[i]));
  }
  return {};
}

Status Split(TfNode& n) {
  const Edge& edge = n.At(1);
  const int own = edge.type().shape.rank();
  if (own < 0) return n.NotYet("the rank of the input is unknown");
  const int rank = own - (edge.complex ? 1 : 0);
  TERN_ASSIGN(const int64_t axis, n.Axis(0, rank));
  const int64_t count = n.Int("num_split");
  if (count < 1 || count > 100000) return n.Bad("num_split is ", count);
  Value* x = n.In(1);
  const Dim& dim = x->type.shape[static_cast<int>(axis)];
  if (dim.known()) {
    if (dim.value() % count != 0)
      return n.Bad("an axis of ", dim.value(), " cannot be split into ", count, " equal parts");
    return SplitParts(n, 1, axis, std::vector<int64_t>(static_cast<size_t>(count), dim.value() / count));
  }
  const auto parts = n.Ops("Split", {x}, {{"axis", axis}, {"num_outputs", count}}, static_cast<int>(count));
  for (size_t i = 0; i < parts.size(); ++i) n.Out(static_cast<int>(i), Same(n, 1, parts[i]));
  return {};
}

Status SplitV(TfNode& n) {
  const int own = n.At(0).type().shape.rank();
  if (own < 0) return n.NotYet("the rank of the input is unknown");
  TERN_ASSIGN(const int64_t axis, n.Axis(2, own - (n.IsComplex(0) ? 1 : 0)));
  const Tensor* constant = n.Constant(1);
  if (!constant) {
    const int count = static_cast<int>(n.Int("num_split"));
    if (count < 1 || count > 100000) return n.Bad("num_split is ", count);
    n.Outs(n.Ops("Split", {n.In(0), n.In(1)}, {{"axis", axis}}, count));
    return {};
  }
  TERN_ASSIGN(auto sizes, n.Longs(1, "size_splits"));
  for (const int64_t size : sizes)
    if (size < -1 || size > INT32_MAX) return n.Bad("a part of size ", size);
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) {
    const Dim& dim = n.In(0)->type.shape[static_cast<int>(axis)];
    if (!dim.known()) {
      // All parts but one are known. The others are cut off from both ends.
      int64_t before = 0, after = 0;
      for (auto it = sizes.begin(); it != open; ++it) before += *it;
      for (auto it = open + 1; it != sizes.end(); ++it) after += *it;
      int64_t at = 0;
      for (size_t i = 0; i < sizes.size(); ++i) {
        const auto position = sizes.begin() + static_cast<ptrdiff_t>(i);
        int64_t start = 0, end = 0;
        if (position < open) start = at, end = at += sizes[i];
        if (position == open) start = before, end = after ? -after : INT64_MAX, at = -after;
        if (position > open) start = at, at += sizes[i], end = at == 0 ? INT64_MAX : at;
        n.Out(static_cast<int>(i), Same(n, 0, n.Slice(n.In(0), axis, start, end)));
      }
      return {};
    }
    int64_t rest = dim.value();
    for (const int64_t size : sizes) rest -= size < 0 ? 0 : size;
    *open = rest;
  }
  return SplitParts(n, 0, axis, sizes);
}

Status Transpose(TfNode& n) {
  const int own = n.At(0).type().shape.rank();
  if (own < 0) return n.NotYet("the rank of the input is unknown");
  TERN_ASSIGN(auto perm, n.Longs(1, "perm"));
  const int rank = own - (n.IsComplex(0) ? 1 : 0);
  for (int64_t& p : perm) p += p < 0 ? rank : 0;
  if (static_cast<int>(perm.size()) != rank)
    return n.Bad("perm has ", perm.size(), " entries, but the rank is ", rank);
  if (n.IsComplex(0)) perm.push_back(rank);
  // Changes between the two layouts need no node.
  if (rank >= 3 && perm == import::ChannelsFirstPerm(rank) && n.PrefersChannelsFirst(0)) {
    n.Out(0, n.ChannelsFirst(0));
  } else if (rank >= 3 && perm == import::ChannelsLastPerm(rank) && !n.IsComplex(0)) {
    n.OutChannelsFirst(0, n.In(0));
  } else {
    n.Out(0, Same(n, 0, n.Transpose(n.In(0), perm)));
  }
  return {};
}

Status Fill(TfNode& n) {
  Value* shape = n.In(0);
  const Tensor* value = n.Constant(1);
  if (value && value->size() == 1 && value->dtype() != DType::kString)
    n.Out(0, n.Op("Fill", {shape}, {{"value", value->Reshaped({1})}}));
  else
    n.Out(0, n.Op("Expand", {n.In(1), shape}));
  return {};
}

Status LikeInput(TfNode& n, double number) {
  const DType dtype = n.TypeOf(0);
  if (dtype == DType::kString) {
    n.Out(0, n.Op("Expand", {n.b.Const(Tensor::Strings({}, {""})), n.ShapeOf(n.In(0))}));
    return {};
  }
  n.Out(0, Same(n, 0, n.Op("Fill", {n.ShapeOf(n.In(0))}, {{"value", n.Numbers(dtype, {1}, {number})}})));
  return {};
}

Status Range(TfNode& n) {
  n.Out(0, n.Op("Range", {n.Op("Reshape", {n.In(0), n.b.Ints({})}), n.Op("Reshape", {n.In(1), n.b.Ints({})}),
                          n.Op("Reshape", {n.In(2), n.b.Ints({})})}));
  return {};
}

// start + i * (stop - start) / (num - 1)
Status LinSpace(TfNode& n) {
  TERN_ASSIGN(const int64_t count, n.Long(2, "num"));
  if (count < 1 || count > (1 << 26)) return n.Bad("num is ", count);
  Value *start = n.In(0), *stop = n.In(1);
  std::vector<double> parts(static_cast<size_t>(count));
  for (size_t i = 0; i < parts.size(); ++i)
    parts[i] = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
  Value* t = n.b.Const(n.Numbers(start->type.dtype, {count}, parts));
  n.Out(0, n.Binary("add", start, n.Binary("mul", t, n.Binary("sub", stop, start))));
  return {};
}

Status Tile(TfNode& n) {
  Value* repeats = n.In(1);
  if (n.IsComplex(0)) repeats = n.Concat({n.Cast(repeats, DType::kI64), n.b.Ints({1})}, 0);
  n.Out(0, Same(n, 0, n.Op("Tile", {n.In(0), n.Cast(repeats, DType::kI64)})));
  return {};
}

Status BroadcastTo(TfNode& n) {
  n.Out(0, Same(n, 0, n.Op("Expand", {n.In(0), WithParts(n, 0, n.In(1))})));
  return {};
}

// Returns the shape of the sum of two tensors that have these shapes.
Status BroadcastArgs(TfNode& n) {
  const DType to = n.TypeOf(0);
  const auto like = [&](int i) {
    return n.Op("Fill", {n.In(i)}, {{"value", Tensor::Of(DType::kU8, {1}, {0})}});
  };
  n.Out(0, n.Cast(n.ShapeOf(n.Binary("add", like(0), like(1))), to));
  return {};
}

Status Reverse(TfNode& n, std::vector<int64_t> axes) {
  if (axes.empty()) {
    n.Out(0, n.At(0));
    return {};
  }
  if (n.IsComplex(0))
    for (int64_t& axis : axes) axis -= axis < 0;
  const std::vector<int64_t> start(axes.size(), INT64_MAX), end(axes.size(), INT64_MIN),
      step(axes.size(), -1);
  n.Out(0,
        Same(n, 0, n.Op("Slice", {n.In(0), n.b.Ints(start), n.b.Ints(end), n.b.Ints(axes), n.b.Ints(step)})));
  return {};
}

Status ReverseV2(TfNode& n) {
  TERN_ASSIGN(auto axes, n.Longs(1, "axis"));
  return Reverse(n, std::move(axes));
}

Status ReverseV1(TfNode& n) {
  const Tensor* dims = n.Constant(1);
  if (!dims) return n.NotYet("dims (input 1) is not a constant");
  std::vector<int64_t> axes;
  const auto flags = ToLongs(*dims);
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i]) axes.push_back(static_cast<int64_t>(i));
  return Reverse(n, axes);
}

// For each of the axes, moves the first (-shift mod dim) elements to its end.
Status Roll(TfNode& n) {
  TERN_ASSIGN(const auto shifts, n.Longs(1, "shift"));
  TERN_ASSIGN(const auto axes, n.Longs(2, "axis"));
  TERN_ASSIGN(const int rank, n.RankOf(0));
  if (shifts.size() != axes.size())
    return n.Bad("there are ", shifts.size(), " shifts for ", axes.size(), " axes");
  if (n.IsComplex(0)) return n.NotYet("complex numbers");
  Value* x = n.In(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
    if (axis < 0 || axis >= rank) return n.Bad("axis ", axes[i], " is out of range for rank ", rank);
    // The split point is -shift modulo the dim.
    Value* at = n.Binary("mod", n.b.Ints({-shifts[i]}), n.DimOf(x, axis));
    Value* head = n.Op("Slice", {x, n.b.Ints({0}), at, n.b.Ints({axis})});
    Value* tail = n.Op("Slice", {x, at, n.b.Ints({INT64_MAX}), n.b.Ints({axis})});
    x = n.Concat({tail, head}, axis);
  }
  n.Out(0, x);
  return {};
}

Status ReverseSequence(TfNode& n) {
  int64_t time = n.Int("seq_dim"), batch = n.Int("batch_dim");
  TERN_ASSIGN(const int rank, n.RankOf(0));
  time += time < 0 ? rank : 0;
  batch += batch < 0 ? rank : 0;
  if (time < 0 || time >= rank || batch < 0 || batch >= rank || time == batch)
    return n.Bad("seq_dim ", n.Int("seq_dim"), " and batch_dim ", n.Int("batch_dim"), " do not fit rank ",
                 rank);
  std::vector<int64_t> perm = {batch, time}, back(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i)
    if (i != batch && i != time) perm.push_back(i);
  for (size_t i = 0; i < perm.size(); ++i) back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Value* y =
      n.Op("ReverseSequence", {n.Transpose(n.In(0), perm), n.In(1)}, {{"time_axis", 1}, {"batch_axis", 0}});
  n.Out(0, n.Transpose(y, back));
  return {};
}

Status Bitcast(TfNode& n) {
  TERN_ASSIGN(const DType to, n.DTypeAttr("type"));
  const DType from = n.TypeOf(0);
  if (n.IsComplex(0) || IsComplex(to)) return n.NotYet("complex numbers");
  if (BitWidth(from) != BitWidth(to))
    return n.NotYet("a cast between types of ", BitWidth(from), " and ", BitWidth(to), " bits");
  n.Out(0, n.Op("BitCast", {n.In(0)}, {{"to", to}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(shape) {
  for (const char* op : {"Shape", "ShapeN"}) table.Add(op, Shape);
  table.Add("Size", Size);
  table.Add("Rank", Rank);
  table.Add("Reshape", Reshape);
  table.Add("ExpandDims", ExpandDims);
  table.Add("Squeeze", Squeeze);
  table.Add("Concat", Concat);
  table.Add("ConcatV2", ConcatV2);
  for (const char* op : {"Pack", "ParallelConcat"})
    table.Add(
        op, op == std::string_view("Pack") ? Pack : [](TfNode& n) -> Status {
          n.Out(0, n.Concat(n.Ins(0, -1), 0));
          return {};
        });
  table.Add("Unpack", Unpack);
  table.Add("Split", Split);
  table.Add("SplitV", SplitV);
  table.Add("Transpose", Transpose);
  table.Add("ConjugateTranspose", [](TfNode& n) -> Status {
    if (n.IsComplex(0)) return n.NotYet("complex numbers");
    return Transpose(n);
  });
  table.Add("Fill", Fill);
  table.Add("ZerosLike", [](TfNode& n) { return LikeInput(n, 0); });
  table.Add("OnesLike", [](TfNode& n) -> Status {
    if (n.IsComplex(0)) return n.NotYet("complex numbers");
    return LikeInput(n, 1);
  });
  table.Add("Range", Range);
  table.Add("LinSpace", LinSpace);
  table.Add("Tile", Tile);
  table.Add("BroadcastTo", BroadcastTo);
  table.Add("BroadcastArgs", BroadcastArgs);
  table.Add("ReverseV2", ReverseV2);
  table.Add("Reverse", ReverseV1);
  table.Add("Roll", Roll);
  table.Add("ReverseSequence", ReverseSequence);
  table.Add("Bitcast", Bitcast);
}

}  // namespace tern::tensorflow
