// Attention, RotaryEmbedding and LinearAttention, in the opsets that have them.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

// i64[1]: the length of q, k or a past, in either layout.
std::string LengthOf(TernNode& n, int input) {
  const int64_t axis = n.TypeOf(input).shape.rank() - 2;
  return n.Op("Shape", {n.In(input)}, {{"start", axis}, {"end", axis + 1}});
}

// Runtimes want a row of the mask for each query and a column for each key, though the specification lets one
// serve all.
std::string WholeMask(TernNode& n) {
  const Shape& mask = n.TypeOf(3).shape;
  const bool one_row = mask.rank() == 1 || (mask.rank() > 1 && mask[-2].Is(1));
  const bool one_column = mask.rank() == 0 || (mask.rank() > 0 && mask[-1].Is(1));
  if (!one_row && !one_column) return n.In(3);
  std::string keys = n.Ints({1});
  if (one_column) keys = LengthOf(n, 1);
  if (one_column && n.Has(4)) keys = n.Op("Add", {keys, LengthOf(n, 4)});
  return n.Op("Expand", {n.In(3), n.Op("Concat", {LengthOf(n, 0), keys}, {{"axis", int64_t{0}}})});
}

std::vector<int64_t> Swapped() { return {0, 2, 1, 3}; }

std::string Packed(TernNode& n, const std::string& split) {
  return n.Op("Reshape", {n.Op("Transpose", {split}, {{"perm", Swapped()}}), n.Ints({0, 0, -1})});
}

std::string Split(TernNode& n, const std::string& packed, int64_t heads) {
  return n.Op("Transpose", {n.Op("Reshape", {packed, n.Ints({0, 0, heads, -1})})}, {{"perm", Swapped()}});
}

// The names of q, k and v; one value that holds them all is cut apart.
Result<std::array<std::string, 3>> Operands(TernNode& n) {
  if (!n.attrs().Bool("joint")) return std::array<std::string, 3>{n.In(0), n.In(1), n.In(2)};
  const int64_t q_heads = n.attrs().Int("q_heads"), kv_heads = n.attrs().Int("kv_heads");
  const Dim& width = n.TypeOf(0).shape[2];
  std::vector<std::string> inputs = {n.In(0)};
  AttrList attrs = {{"axis", int64_t{2}}};
  if (width.known()) {
    const int64_t size = width.value() / (q_heads + 2 * kv_heads);
    inputs.push_back(n.Ints({q_heads * size, kv_heads * size, kv_heads * size}));
  } else if (q_heads == kv_heads) {
    attrs.emplace_back("num_outputs", int64_t{3});
  } else {
    return n.NotExportable("the width of q, k and v in one is not known");
  }
  std::array<std::string, 3> names = {n.Temp(), n.Temp(), n.Temp()};
  n.Emit("Split", inputs, {names[0], names[1], names[2]}, attrs);
  return names;
}

// ONNX has all operands and the result in one layout; others are rearranged to and from rank 4.
struct Layouts {
  bool packed = true;  // everything is [batch, length, heads*size]
  std::array<bool, 3> packed_input{};
  static Result<Layouts> Of(const TernNode& n) {
    Layouts l;
    for (int i = 0; i < 3; ++i) {
      if (!n.TypeOf(i).shape.ranked) return n.NotExportable("the rank of input ", i, " is not known");
      l.packed_input[static_cast<size_t>(i)] = n.TypeOf(i).shape.rank() == 3;
      l.packed = l.packed && n.TypeOf(i).shape.rank() == 3;
    }
    l.packed = l.packed && n.attrs().Bool("merged");
    return l;
  }
};

// k or v with a copy of each head for every query head that reads it.
Result<std::string> Repeated(TernNode& n, const std::string& x, const Dim& heads, const Dim& q_heads) {
  if (heads == q_heads) return x;
  if (!heads.known() || !q_heads.known() || heads.value() < 1)
    return n.NotExportable("the number of heads is not known");
  std::vector<int64_t> from;
  for (int64_t h = 0; h < q_heads.value(); ++h) from.push_back(h / (q_heads.value() / heads.value()));
  return n.Op("Gather", {x, n.Ints(from)}, {{"axis", int64_t{1}}});
}

// Attention's own operator leaves open what a query without keys gets: written out, with zeros.
Status ExportGuarded(TernNode& n, const Layouts& layouts) {
  if (n.Has(4) || n.Has(6) || n.attrs().Bool("causal") || n.node.outputs().size() > 1)
    return n.NotExportable("zeros for queries without keys go with a mask only");
  const DType dtype = n.TypeOf(0).dtype;
  const std::array<int64_t, 3> counts = {n.attrs().Int("q_heads"), n.attrs().Int("kv_heads"),
                                         n.attrs().Int("kv_heads")};
  TERN_ASSIGN(auto in, Operands(n));
  std::array<Dim, 3> heads;
  for (size_t i = 0; i < 3; ++i) {
    const bool packed = layouts.packed_input[i];
    const int port = static_cast<int>(i);
    if (packed) in[i] = Split(n, in[i], counts[i]);
    heads[i] = packed ? Dim(counts[i]) : n.TypeOf(port).shape[1];
  }
  for (size_t i : {1, 2}) {
    TERN_ASSIGN(in[i], Repeated(n, in[i], heads[i], heads[0]));
  }
  double scale = n.attrs().Float("scale");
  if (scale == 0) {
    const Dim width = n.TypeOf(0).shape[-1];
    if (!width.known()) return n.NotExportable("the size of a head is not known");
    const int64_t parts = n.attrs().Bool("joint") ? counts[0] + 2 * counts[1] : counts[0];
    const double size = static_cast<double>(width.value()) / (layouts.packed_input[0] ? parts : 1);
    scale = 1 / std::sqrt(size);
  }
  const std::string keys = n.Op("Transpose", {in[1]}, {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
  std::string s = n.Op("Mul", {n.Op("MatMul", {in[0], keys}), n.Scalar(dtype, scale)});
  if (const float cap = n.attrs().Float("softcap"); cap > 0)
    s = n.Op("Mul", {n.Op("Tanh", {n.Op("Div", {s, n.Scalar(dtype, cap)})}), n.Scalar(dtype, cap)});
  if (n.Has(3)) {
    const bool choice = n.TypeOf(3).dtype == DType::kBool;
    s = choice ? n.Op("Where", {n.In(3), s, n.Scalar(dtype, -std::numeric_limits<double>::infinity())})
               : n.Op("Add", {s, n.In(3)});
  }
  s = n.Op("Softmax", {s}, {{"axis", int64_t{-1}}});
  s = n.Op("Where", {n.Op("IsNaN", {s}), n.Scalar(dtype, 0), s});
  if (!n.attrs().Bool("merged")) {
    n.Emit("MatMul", {s, in[2]}, {n.Out(0)});
    return {};
  }
  const std::string y = n.Op("Transpose", {n.Op("MatMul", {s, in[2]})}, {{"perm", Swapped()}});
  n.Emit("Reshape", {y, n.Ints({0, 0, -1})}, {n.Out(0)});
  return {};
}

// Keys and values in one are cut apart before, and stacked behind.
class Present {
 public:
  Present(TernNode& n, std::vector<std::string>& inputs, std::vector<std::string>& outputs) : n_(n) {
    if (!n.attrs().Bool("stacked")) return;
    if (n.Has(4)) inputs.resize(std::max<size_t>(inputs.size(), 6));
    for (int64_t i = 0; i < 2 && n.Has(4); ++i)
      inputs[static_cast<size_t>(4 + i)] =
          n.Op("Gather", {n.In(4), n.Const(Tensor::Of(DType::kI64, {}, {static_cast<double>(i)}))},
               {{"axis", int64_t{0}}});
    if (!Wanted(n, 1)) return;
    outputs.resize(std::max<size_t>(outputs.size(), 3));
    k_ = outputs[1] = n.Temp();
    v_ = outputs[2] = n.Temp();
  }
  void Stack() {
    if (k_.empty()) return;
    const auto tall = [&](const std::string& x) { return n_.Op("Unsqueeze", {x, n_.Ints({0})}); };
    n_.Emit("Concat", {tall(k_), tall(v_)}, {n_.Out(1)}, {{"axis", int64_t{0}}});
  }

 private:
  TernNode& n_;
  std::string k_, v_;
};

Status ExportAttention(TernNode& n) {
  TERN_ASSIGN(const Layouts layouts, Layouts::Of(n));
  if (n.attrs().Bool("guarded")) return ExportGuarded(n, layouts);
  n.NeedOpset(n.Has(6) ? 24 : 23);
  const std::string stage = n.attrs().Text("scores");
  const int64_t mode = stage == "capped" ? 1 : stage == "masked" ? 2 : stage == "probabilities" ? 3 : 0;
  const int64_t q_heads = n.attrs().Int("q_heads"), kv_heads = n.attrs().Int("kv_heads");
  AttrList attrs = {{"is_causal", n.attrs().Bool("causal")},
                    {"softcap", static_cast<double>(n.attrs().Float("softcap"))},
                    {"qk_matmul_output_mode", mode}};
  if (const float scale = n.attrs().Float("scale"); scale != 0)
    attrs.emplace_back("scale", static_cast<double>(scale));
  std::vector<std::string> inputs = n.Ins(), outputs = n.Outs();
  TERN_ASSIGN(const auto operands, Operands(n));
  std::copy(operands.begin(), operands.end(), inputs.begin());
  if (n.Has(3)) inputs[3] = WholeMask(n);
  Present present(n, inputs, outputs);
  if (layouts.packed) {
    attrs.emplace_back("q_num_heads", q_heads);
    attrs.emplace_back("kv_num_heads", kv_heads);
    n.Emit("Attention", inputs, outputs, attrs);
    present.Stack();
    return {};
  }
  for (size_t i = 0; i < 3; ++i)
    if (layouts.packed_input[i]) inputs[i] = Split(n, inputs[i], i == 0 ? q_heads : kv_heads);
  const bool merge = n.attrs().Bool("merged");
  if (merge) outputs[0] = n.Temp();
  n.Emit("Attention", inputs, outputs, attrs);
  present.Stack();
  if (merge)
    n.Emit("Reshape", {n.Op("Transpose", {outputs[0]}, {{"perm", Swapped()}}), n.Ints({0, 0, -1})},
           {n.Out(0)});
  return {};
}

// A row of positions or angles that serves the whole batch, once for each sample.
std::string ForEachSample(TernNode& n, int input, const std::string& name) {
  const Shape &x = n.TypeOf(0).shape, &rows = n.TypeOf(input).shape;
  if (!rows.ranked || !rows[0].Is(1) || (x.ranked && x[0].Is(1))) return name;
  const std::string batch = n.Op("Shape", {n.In(0)}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
  const std::vector<int64_t> ones(static_cast<size_t>(rows.rank() - 1), 1);
  return n.Op("Expand", {name, n.Op("Concat", {batch, n.Ints(ones)}, {{"axis", int64_t{0}}})});
}

Status ExportRotary(TernNode& n) {
  n.NeedOpset(23);
  std::vector<std::string> inputs = n.Ins();
  for (int i : {1, 2}) {
    std::string& name = inputs[static_cast<size_t>(i)];
    name = CastName(n, name, n.TypeOf(i).dtype, n.TypeOf(0).dtype);
    if (!n.Has(3)) name = ForEachSample(n, i, name);
  }
  if (n.Has(3)) inputs[3] = ForEachSample(n, 3, CastName(n, inputs[3], n.TypeOf(3).dtype, DType::kI64));
  AttrList attrs = {{"interleaved", n.attrs().Bool("interleaved")},
                    {"rotary_embedding_dim", n.attrs().Int("size")}};
  if (n.TypeOf(0).shape.rank() == 3) attrs.emplace_back("num_heads", n.attrs().Int("heads"));
  n.Emit("RotaryEmbedding", inputs, n.Outs(), attrs);
  return {};
}

Status ExportLinearAttention(TernNode& n) {
  const Shape &q = n.TypeOf(0).shape, &k = n.TypeOf(1).shape;
  if (!q.ranked || !k.ranked || !q[1].known() || !k[1].known())
    return n.NotExportable("the number of heads is not known");
  n.NeedOpset(27);
  std::vector<std::string> inputs;
  for (int i = 0; i < 6; ++i) inputs.push_back(!n.Has(i) ? "" : i == 3 ? n.In(i) : Packed(n, n.In(i)));
  std::vector<std::string> outputs = n.Outs();
  outputs[0] = n.Temp();
  n.Emit("LinearAttention", inputs, outputs,
         {{"q_num_heads", q[1].value()},
          {"kv_num_heads", k[1].value()},
          {"update_rule", n.attrs().Text("rule")},
          {"scale", static_cast<double>(n.attrs().Float("scale"))}});
  const std::string split = n.Op("Reshape", {outputs[0], n.Ints({0, 0, q[1].value(), -1})});
  n.Emit("Transpose", {split}, {n.Out(0)}, {{"perm", Swapped()}});
  return {};
}

}  // namespace

TERN_EXPORTERS(attention) {
  table.Add("Attention", ExportAttention);
  table.Add("RotaryEmbedding", ExportRotary);
  table.Add("LinearAttention", ExportLinearAttention);
}

}  // namespace tern::onnx
