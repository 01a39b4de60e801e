// Less common operators.
#include <algorithm>
#include <cmath>

#include "import/torch/aten/functions.h"
#include "import/torch/aten/views.h"

namespace tern::torch {
namespace {

Status Diff(AtenNode& n) {
  Emit e(n.b);
  const int64_t order = n.Int("n", 1), axis = n.Int("dim", -1);
  if (order < 0 || order > 64) return n.NotYet("differences of order ", order);
  std::vector<Value*> parts;
  for (const char* name : {"prepend", "self", "append"})
    if (Value* part = n.In(name)) parts.push_back(part);
  for (const Value* part : parts)
    if (part->type.dtype != parts[0]->type.dtype || part->type.dtype == DType::kBool)
      return n.NotYet("differences of ", part->type.ToString(), " and ", parts[0]->type.ToString());
  if (order == 0) parts = {n.In("self")};
  Value* x = e.Concat(parts, axis);
  for (int64_t i = 0; i < order; ++i) x = e.Sub(e.Slice(x, axis, 1, INT64_MAX), e.Slice(x, axis, 0, -1));
  n.Out(x);
  return {};
}

Value* Close(AtenNode& n) {
  Emit e(n.b);
  const DType t = FloatOf(ResultType({&n.Get("self"), &n.Get("other")}));
  Value *x = As(n, "self", t), *y = As(n, "other", t);
  Value* limit =
      e.Add(e.Like(x, n.Float("atol", 1e-8)), e.Mul(e.Like(x, n.Float("rtol", 1e-5)), e.Unary("abs", y)));
  Value* near = e.Binary("less_equal", e.Unary("abs", e.Sub(x, y)), limit);
  Value* close = e.Binary("or", near, e.Binary("equal", x, y));
  if (!n.Bool("equal_nan")) return close;
  return e.Binary("or", close, e.Binary("and", e.Unary("isnan", x), e.Unary("isnan", y)));
}

Status IsClose(AtenNode& n) {
  n.Out(Close(n));
  return {};
}

// The sum, mean or maximum of the rows of each bag (mode 0, 1 or 2). Bag b starts at indices[offsets[b]].
Status EmbeddingBag(AtenNode& n) {
  Emit e(n.b);
  Value *weight = n.In("weight"), *indices = e.Cast(n.In("indices"), DType::kI64),
        *offsets = e.Cast(n.In("offsets"), DType::kI64);
  const DType t = weight->type.dtype;
  const int64_t mode = n.Int("mode"), padding = n.Int("padding_idx", -1);
  if (mode < 0 || mode > 2) return n.Bad("mode ", mode);
  if (n.Bool("include_last_offset")) offsets = e.Slice(offsets, 0, 0, -1);
  Value* place = e.Iota(ScalarValue(n.b, SizeOf(n.b, indices, 0), DType::kI64));
  Value* begun = e.Binary("less_equal", e.Unsqueeze(offsets, {0}), e.Unsqueeze(place, {1}));
  Value* bag = e.Sub(e.Reduce("sum", e.Cast(begun, DType::kI64), {1}, false), e.Long(1));
  Value* rows = n.b.Op("Gather", {weight, indices}, {{"axis", int64_t{0}}});
  Value* used = e.Cast(e.Not(e.Binary("equal", indices, e.Long(padding))), t);
  Value* counts_base = e.Fill(e.Shape(offsets), t, 0);
  Value* at = e.Unsqueeze(bag, {1});
  Value* counts = n.b.Op("ScatterND", {counts_base, at, used}, {{"reduction", "add"}});
  if (n.Has("per_sample_weights")) rows = e.Mul(rows, e.Unsqueeze(n.In("per_sample_weights"), {1}));
  const bool largest = mode == 2;
  if (padding >= 0)
    rows = e.Where(e.Cast(e.Unsqueeze(used, {1}), DType::kBool), rows, e.Like(rows, largest ? -INFINITY : 0));
  Value* shape = IntVector(n.b, {SizeOf(n.b, offsets, 0), SizeOf(n.b, weight, 1)});
  Value* y = n.b.Op("ScatterND", {e.Fill(shape, t, largest ? -INFINITY : 0), at, rows},
                    {{"reduction", largest ? "max" : "add"}});
  Value* column = e.Unsqueeze(counts, {1});
  if (mode == 1) y = e.Div(y, e.Binary("max", column, e.Like(y, 1)));
  if (largest) y = e.Where(e.Binary("equal", column, e.Like(y, 0)), e.Like(y, 0), y);
  n.Out(y);
  n.Out(bag);
  n.Out(e.Cast(counts, DType::kI64));
  n.Out(e.Cast(counts, DType::kI64));
  return {};
}

// Giles' polynomials for single precision.
Value* ErfInverse(Emit& e, Value* x) {
  static constexpr double kCentre[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                       -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                       -0.00417768164,  0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                     -0.00367342844,  0.00573950773,  -0.0076224613,
                                     0.00943887047,   1.00167406,     2.83297682};
  Value* one = e.Like(x, 1);
  Value* w = e.Unary("neg", e.Unary("log", e.Mul(e.Sub(one, x), e.Add(one, x))));
  const auto polynomial = [&](Value* v, const double(&terms)[9]) {
    Value* p = e.Like(x, terms[0]);
    for (size_t i = 1; i < 9; ++i) p = e.Add(e.Mul(p, v), e.Like(x, terms[i]));
    return p;
  };
  Value* centre = polynomial(e.Sub(w, e.Like(x, 2.5)), kCentre);
  Value* tail = polynomial(e.Sub(e.Unary("sqrt", w), e.Like(x, 3)), kTail);
  Value* y = e.Mul(e.Where(e.Binary("less", w, e.Like(x, 5)), centre, tail), x);
  Value* infinite = e.Mul(x, e.Like(x, INFINITY));
  return e.Where(e.Binary("equal", e.Unary("abs", x), one), infinite, y);
}

Status ErfInv(AtenNode& n) {
  Emit e(n.b);
  n.Out(ErfInverse(e, InFloat(n, "self")));
  return {};
}

Status Heaviside(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  const DType t = x->type.dtype;
  Value* zero = e.Like(x, 0);
  n.Out(e.Where(e.Binary("equal", x, zero), As(n, "values", t), e.Cast(e.Binary("greater", x, zero), t)));
  return {};
}

// alpha - beta * cos(2 pi i / count)
Status HammingWindow(AtenNode& n) {
  Emit e(n.b);
  const int64_t length = n.Int("window_length");
  if (length < 1 || length > 1 << 24) return n.NotYet("a window of ", length, " elements");
  const bool periodic = n.Bool("periodic", true);
  const double alpha = n.Float("alpha", 0.54), beta = n.Float("beta", 0.46);
  const double count = static_cast<double>(std::max<int64_t>(periodic ? length : length - 1, 1));
  std::vector<double> values;
  for (int64_t i = 0; i < length; ++i)
    values.push_back(alpha - beta * std::cos(2 * M_PI * static_cast<double>(i) / count));
  if (length == 1) values = {1};
  n.Out(n.b.Const(import::Numbers(n.b, n.Type("dtype", DType::kF32), {length}, values)));
  return {};
}

Status Kron(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *y = n.In("other");
  const int rank = x->type.shape.rank();
  if (rank < 1 || y->type.shape.rank() != rank) return n.NotYet("tensors of different rank");
  std::vector<int64_t> left, right;
  std::vector<Arg> sizes;
  for (int64_t i = 0; i < rank; ++i) {
    left.push_back(2 * i + 1);
    right.push_back(2 * i);
    TERN_ASSIGN(Arg size,
                ScalarOp(n.context, "mul", {SizeOf(n.b, x, i), SizeOf(n.b, y, i)}, {n.name, n.origin}));
    sizes.push_back(size);
  }
  n.Out(ReshapeTo(n.b, e.Mul(e.Unsqueeze(x, left), e.Unsqueeze(y, right)), sizes));
  return {};
}

Status RandomInts(AtenNode& n) {
  Emit e(n.b);
  Value* shape = n.HasParameter("self") ? e.Shape(n.In("self")) : IntVector(n.b, n.Get("size").items);
  const double low = n.HasParameter("low") ? n.Float("low") : 0, high = n.Float("high");
  Value* u = n.b.Op("Random", {shape}, {{"kind", "uniform"}, {"a", low}, {"b", high}});
  n.Out(
      e.Cast(e.Unary("floor", u), n.Type("dtype", n.HasParameter("self") ? n.TypeOf("self") : DType::kI64)));
  return {};
}

Status RandomOrder(AtenNode& n) {
  Emit e(n.b);
  Value* count = IntVector(n.b, {n.Get("n")});
  Value* u = n.b.Op("Random", {count}, {{"kind", "uniform"}});
  n.Out(e.Cast(n.b.Ops("TopK", {u, count}, {{"axis", int64_t{0}}}, 2)[1], n.Type("dtype", DType::kI64)));
  return {};
}

Status Bernoulli(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  Value* u = n.b.Op("Random", {e.Shape(x)}, {{"kind", "uniform"}, {"dtype", x->type.dtype}});
  Value* p = n.HasParameter("p") ? As(n, "p", x->type.dtype) : x;
  n.Out(e.Cast(e.Binary("less", u, p), x->type.dtype));
  return {};
}

Status ColumnStack(AtenNode& n, bool depth) {
  Emit e(n.b);
  std::vector<Value*> parts = n.Ins("tensors");
  for (Value*& v : parts) {
    const int rank = v->type.shape.rank();
    if (depth)
      v = rank == 1 ? e.Unsqueeze(v, {0, 2}) : rank == 2 ? e.Unsqueeze(v, {2}) : v;
    else if (rank < 2)
      v = e.Reshape(v, {-1, 1});
  }
  if (parts.empty()) return n.Bad("an empty list");
  n.Out(e.Concat(parts, depth ? 2 : 1));
  return {};
}

// The diagonal of a matrix, or a matrix with a diagonal.
Status Diag(AtenNode& n) {
  const bool vector = n.RankOf("self") == 1;
  const Schema* schema = FindSchema(vector ? "aten::diag_embed" : "aten::diagonal", "");
  TERN_ASSIGN(auto bound, Bind(*schema, {n.Get("self"), n.Get("diagonal")}, {}));
  TERN_ASSIGN(auto results, Convert(n.context, {schema, bound, {n.name, n.origin}}));
  n.Return(results[0]);
  return {};
}

Status FloatPower(AtenNode& n) {
  n.Out(Emit(n.b).Binary("pow", As(n, "self", DType::kF64), As(n, "exponent", DType::kF64)));
  return {};
}

Status LogCumSumExp(AtenNode& n) {
  Emit e(n.b);
  Value* x = InFloat(n, "self");
  const int64_t axis = n.Int("dim");
  Value* largest = e.Reduce("max", x, {axis}, true);
  Value* sum = n.b.Op("Cumulative", {e.Unary("exp", e.Sub(x, largest)), e.Long(axis)}, {{"kind", "sum"}});
  n.Out(e.Add(e.Unary("log", sum), largest));
  return {};
}

Status Addr(AtenNode& n) {
  Emit e(n.b);
  Value* self = n.In("self");
  const DType t = self->type.dtype;
  Value* outer = e.Mul(e.Unsqueeze(n.In("vec1"), {1}), e.Unsqueeze(n.In("vec2"), {0}));
  n.Out(e.Add(e.Mul(self, As(n, "beta", t)), e.Mul(outer, As(n, "alpha", t))));
  return {};
}

Status MatrixNorm(AtenNode& n) {
  Emit e(n.b);
  if (n.Text("ord", "") != "fro") return n.NotYet("other norms than 'fro'");
  n.Out(e.Reduce("l2", InFloat(n, "self"), n.Ints("dim"), n.Bool("keepdim")));
  return {};
}

Status Solve(AtenNode& n) {
  if (!n.Bool("left", true)) return n.NotYet("left=False");
  n.Out(n.b.Op("MatMul", {n.b.Op("Inverse", {n.In("A")}), n.In("B")}));
  return {};
}

Status RreluFunctional(AtenNode& n) {
  if (n.Bool("training")) return n.NotYet("training mode");
  n.Out(n.b.Op("Activation", {n.In("self")},
               {{"kind", "leaky_relu"}, {"alpha", (n.Float("lower") + n.Float("upper")) / 2}}));
  n.Return(n.Get("noise"));
  return {};
}

// Writes pooled values to the positions of the maxima.
Status MaxUnpool(AtenNode& n) {
  Emit e(n.b);
  Value *x = n.In("self"), *at = n.In("indices");
  const auto size = n.Ints("output_size");
  const int rank = x->type.shape.rank();
  if (rank != 4 || size.size() != 2) return n.NotYet("a tensor ", x->type.ToString());
  if (std::min(size[0], size[1]) < 0 || std::max(size[0], size[1]) > INT32_MAX)
    return n.Bad("output_size ", size[0], " by ", size[1]);
  Value* lead = n.b.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{2}}});
  Value* zeros = e.Fill(e.Concat({lead, n.b.Ints({size[0] * size[1]})}, 0), x->type.dtype, 0);
  Value* y = n.b.Op("ScatterElements", {zeros, e.Reshape(at, {0, 0, -1}), e.Reshape(x, {0, 0, -1})},
                    {{"axis", int64_t{2}}});
  n.Out(e.Reshape(y, {0, 0, size[0], size[1]}));
  return {};
}

// Returns the spectra of frames, [batch, frequencies, frames], as complex numbers.
Status Stft(AtenNode& n) {
  Emit e(n.b);
  Value* x = n.In("self");
  if (n.HasParameter("center") && n.Bool("center")) return n.NotYet("center=True");
  const int64_t size = n.Int("n_fft"), hop = n.Int("hop_length", size / 4), width = n.Int("win_length", size);
  if (size < 1 || hop < 1 || width < 1 || width > size)
    return n.Bad("frames of ", size, " samples, ", hop, " apart");
  const bool unbatched = x->type.shape.rank() == 1;
  if (unbatched) x = e.Unsqueeze(x, {0});
  Value* window = n.Has("window") ? n.In("window") : e.Fill(n.b.Ints({width}), x->type.dtype, 1);
  if (width < size) {
    const int64_t left = (size - width) / 2;
    window = n.b.Op("Pad", {window, n.b.Ints({left, size - width - left})});
  }
  Value* y = n.b.Op("STFT", {e.Unsqueeze(x, {2}), e.Long(hop), window, e.Long(size)},
                    {{"onesided", n.Bool("onesided", true)}});
  y = e.Transpose(y, {0, 2, 1, 3});
  if (n.Bool("normalized")) y = e.Mul(y, e.Like(y, 1 / std::sqrt(static_cast<double>(size))));
  n.Out(unbatched ? e.Squeeze(y, {0}) : y);
  n.results().back().tensor->complex = n.Bool("return_complex");
  return {};
}

}  // namespace

TERN_CONVERTERS(misc) {
  table.Add("aten::diff", Diff);
  table.Add("aten::isclose", IsClose);
  table.Add("aten::embedding_bag", EmbeddingBag);
  table.Add("aten::_embedding_bag", EmbeddingBag);
  table.Add("aten::_embedding_bag_forward_only", EmbeddingBag);
  table.Add("aten::erfinv", ErfInv);
  table.Add("aten::heaviside", Heaviside);
  table.Add("aten::hamming_window", HammingWindow);
  table.Add("aten::kron", Kron);
  table.Add("aten::randint", RandomInts);
  table.Add("aten::randint_like", RandomInts);
  table.Add("aten::randperm", RandomOrder);
  table.Add("aten::bernoulli", Bernoulli);
  table.Add("aten::column_stack", [](AtenNode& n) { return ColumnStack(n, false); });
  table.Add("aten::dstack", [](AtenNode& n) { return ColumnStack(n, true); });
  table.Add("aten::diag", Diag);
  table.Add("aten::float_power", FloatPower);
  table.Add("aten::logcumsumexp", LogCumSumExp);
  table.Add("aten::addr", Addr);
  table.Add("aten::linalg_matrix_norm", MatrixNorm);
  table.Add("aten::linalg_solve", Solve);
  table.Add("aten::rrelu_with_noise_functional", RreluFunctional);
  table.Add("aten::max_unpool2d", MaxUnpool);
  table.Add("aten::stft", Stft);
}

}  // namespace tern::torch
