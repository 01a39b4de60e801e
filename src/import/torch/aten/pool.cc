// Pooling.
#include <algorithm>

#include "import/torch/aten/functions.h"

namespace tern::torch {
namespace {

std::vector<int64_t> Spread(std::vector<int64_t> values, size_t count,
                            const std::vector<int64_t>& otherwise) {
  if (values.empty()) values = otherwise;
  if (values.size() == 1) values.resize(count, values[0]);
  return values;
}

// An input, with a batch dim of 1 added if it has none.
struct Batched {
  Value* x;
  bool added;
};
Batched WithBatch(AtenNode& n, int axes) {
  Value* x = n.In("self");
  const bool add = x->type.shape.rank() == axes + 1;
  return {add ? Emit(n.b).Unsqueeze(x, {0}) : x, add};
}

struct PoolWindow {
  std::vector<int64_t> kernel, stride, pads, dilation;
};

PoolWindow WindowOf(AtenNode& n, int axes) {
  const auto count = static_cast<size_t>(axes);
  PoolWindow w;
  w.kernel = Spread(n.Ints("kernel_size"), count, {1});
  w.stride = Spread(n.Ints("stride"), count, w.kernel);
  w.pads = Spread(n.Ints("padding"), count, {0});
  w.pads.insert(w.pads.end(), w.pads.begin(), w.pads.end());
  w.dilation = Spread(n.Ints("dilation"), count, {1});
  return w;
}

AttrList AttrsOf(AtenNode& n, const PoolWindow& w, const char* kind) {
  return {{"kind", kind},   {"kernel", w.kernel},      {"strides", w.stride},
          {"pads", w.pads}, {"dilations", w.dilation}, {"ceil_mode", n.Bool("ceil_mode")}};
}

// Converts the positions of maxima. Tern counts positions from the start of the entire input, PyTorch from
// the start of the channel.
Value* ChannelPositions(AtenNode& n, Value* positions, Value* x, int axes) {
  Emit e(n.b);
  std::vector<int64_t> spatial;
  for (int64_t i = -axes; i < 0; ++i) spatial.push_back(i);
  Value* count = nullptr;
  for (const int64_t a : spatial) {
    Value* size = ScalarValue(n.b, SizeOf(n.b, x, a), DType::kI64);
    count = count ? e.Mul(count, size) : size;
  }
  return e.Binary("mod", positions, count);
}

Converter MaxPool(int axes, bool indices) {
  return [axes, indices](AtenNode& n) -> Status {
    Emit e(n.b);
    const Batched in = WithBatch(n, axes);
    const bool logical = in.x->type.dtype == DType::kI64;
    Value* x = logical ? e.Cast(in.x, DType::kI32) : in.x;
    auto out = n.b.Ops("Pool", {x}, AttrsOf(n, WindowOf(n, axes), "max"), indices ? 2 : 1);
    if (indices) out[1] = ChannelPositions(n, out[1], in.x, axes);
    if (logical) out[0] = e.Cast(out[0], DType::kI64);
    if (in.added)
      for (Value*& v : out) v = e.Squeeze(v, {0});
    n.Out(out);
    return {};
  };
}

Converter AvgPool(int axes) {
  return [axes](AtenNode& n) -> Status {
    Emit e(n.b);
    const Batched in = WithBatch(n, axes);
    const PoolWindow w = WindowOf(n, axes);
    AttrList attrs = AttrsOf(n, w, "average");
    const bool fixed = n.Has("divisor_override");
    attrs.emplace_back("count_include_pad", fixed || n.Bool("count_include_pad", true));
    if (fixed && n.Bool("ceil_mode")) return n.NotYet("divisor_override with ceil_mode");
    Value* y = n.b.Op("Pool", {in.x}, attrs);
    if (fixed) {
      double taps = 1;
      for (const int64_t k : w.kernel) taps *= static_cast<double>(k);
      y = e.Mul(y, e.Like(y, taps / static_cast<double>(n.Int("divisor_override", 1))));
    }
    n.Out(in.added ? e.Squeeze(y, {0}) : y);
    return {};
  };
}

// Window i of an adaptive pooling of `size` elements to `count` windows is [Start, End).
int64_t Start(int64_t i, int64_t size, int64_t count) { return i * size / count; }
int64_t End(int64_t i, int64_t size, int64_t count) { return ((i + 1) * size + count - 1) / count; }

// Averages along one axis, by a product with a constant matrix.
Value* AverageAlong(AtenNode& n, Value* x, int64_t axis, int64_t size, int64_t count) {
  Emit e(n.b);
  std::vector<double> weights(static_cast<size_t>(size * count), 0);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t a = Start(i, size, count), z = End(i, size, count);
    for (int64_t k = a; k < z; ++k)
      weights[static_cast<size_t>(k * count + i)] = 1.0 / static_cast<double>(z - a);
  }
  Value* matrix = n.b.Const(import::Numbers(n.b, x->type.dtype, {size, count}, weights));
  const int rank = x->type.shape.rank();
  if (axis == rank - 1) return n.b.Op("MatMul", {x, matrix});
  const auto there = MovedPerm(rank, axis, rank - 1), back = MovedPerm(rank, rank - 1, axis);
  return e.Transpose(n.b.Op("MatMul", {e.Transpose(x, there), matrix}), back);
}

Value* MaxAlong(AtenNode& n, Value* x, int64_t axis, int64_t size, int64_t count) {
  Emit e(n.b);
  std::vector<Value*> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(
        e.Reduce("max", e.Slice(x, axis, Start(i, size, count), End(i, size, count)), {axis}, true));
  return e.Concat(parts, axis);
}

Result<Value*> AdaptivePool(AtenNode& n, Value* x, int axes, bool average) {
  Emit e(n.b);
  const int rank = x->type.shape.rank();
  const std::vector<Arg>& wanted = n.Get("output_size").items;
  if (wanted.size() != 1 && wanted.size() != static_cast<size_t>(axes))
    return n.Bad("output_size has ", wanted.size(), " items, but must have ", axes);
  std::vector<int64_t> counts;
  bool all_one = true;
  for (int i = 0; i < axes; ++i) {
    const Arg& w = wanted.size() == 1 ? wanted[0] : wanted[static_cast<size_t>(i)];
    if (!w.known() && !w.none()) return n.NotYet("an output size that the graph computes");
    counts.push_back(w.none() ? -1 : w.integer);
    all_one &= counts.back() == 1;
  }
  if (all_one && rank == axes + 2) return n.b.Op("GlobalPool", {x}, {{"kind", average ? "average" : "max"}});
  std::vector<int64_t> sizes, kernel;
  bool even = rank == axes + 2;
  for (int i = 0; i < axes; ++i) {
    const Arg size = SizeOf(n.b, x, rank - axes + i);
    int64_t& count = counts[static_cast<size_t>(i)];
    if (!size.known()) return n.NotYet("adaptive pooling of a dim of unknown size: ", x->type.ToString());
    if (count == -1) count = size.integer;
    if (count < 1 || size.integer < 1 || count > 4096 || size.integer > 4096)
      return n.Bad("adaptive pooling of ", size.integer, " to ", count);
    sizes.push_back(size.integer);
    even &= size.integer % count == 0;
    kernel.push_back(size.integer / count);
  }
  if (even)
    return n.b.Op("Pool", {x},
                  {{"kind", average ? "average" : "max"}, {"kernel", kernel}, {"strides", kernel}});
  for (int i = 0; i < axes; ++i) {
    const int64_t axis = rank - axes + i, size = sizes[static_cast<size_t>(i)],
                  count = counts[static_cast<size_t>(i)];
    if (size != count)
      x = average ? AverageAlong(n, x, axis, size, count) : MaxAlong(n, x, axis, size, count);
  }
  return x;
}

Converter Adaptive(int axes, bool average) {
  return [axes, average](AtenNode& n) -> Status {
    const Batched in = WithBatch(n, axes);
    TERN_ASSIGN(Value * y, AdaptivePool(n, in.x, axes, average));
    n.Out(in.added ? Emit(n.b).Squeeze(y, {0}) : y);
    // The positions of the maxima are not supported. They become None, so that only a use of them fails.
    if (n.schema.returns.size() > 1) n.Return(Arg::None());
    return {};
  };
}

}  // namespace

TERN_CONVERTERS(pool) {
  table.Add("aten::max_pool1d", MaxPool(1, false));
  table.Add("aten::max_pool2d", MaxPool(2, false));
  table.Add("aten::max_pool3d", MaxPool(3, false));
  table.Add("aten::max_pool1d_with_indices", MaxPool(1, true));
  table.Add("aten::max_pool2d_with_indices", MaxPool(2, true));
  table.Add("aten::max_pool3d_with_indices", MaxPool(3, true));
  table.Add("aten::avg_pool1d", AvgPool(1));
  table.Add("aten::avg_pool2d", AvgPool(2));
  table.Add("aten::avg_pool3d", AvgPool(3));
  table.Add("aten::adaptive_avg_pool1d", Adaptive(1, true));
  table.Add("aten::adaptive_avg_pool2d", Adaptive(2, true));
  table.Add("aten::adaptive_avg_pool3d", Adaptive(3, true));
  table.Add("aten::_adaptive_avg_pool2d", Adaptive(2, true));
  table.Add("aten::_adaptive_avg_pool3d", Adaptive(3, true));
  table.Add("aten::adaptive_max_pool1d", Adaptive(1, false));
  table.Add("aten::adaptive_max_pool2d", Adaptive(2, false));
  table.Add("aten::adaptive_max_pool3d", Adaptive(3, false));
}

}  // namespace tern::torch
