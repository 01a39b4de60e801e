// Exports Attention, RotaryEmbedding and LinearAttention. They require opset 23, 24 or 27, so their
// exporters raise the model's opset.
#include <algorithm>
#include <array>

#include "export/onnx/ops/common.h"

namespace tern::onnx {
namespace {

// Emits a dim of an input as a tensor i64[1], and returns its name.
std::string DimOf(TernNode& n, int input, int axis) {
  const Shape& shape = n.TypeOf(input).shape;
  const int64_t at = axis < 0 ? axis + shape.rank() : axis;
  if (shape[axis].known()) return n.Ints({shape[axis].value()});
  return n.Op("Shape", {n.In(input)}, {{"start", at}, {"end", at + 1}});
}
// Returns a text that identifies the size of a dim, for use in a key of TernNode::Once. Equal texts mean
// equal sizes. An unknown dim is identified by the name of its input.
std::string DimText(const TernNode& n, int input, int axis) {
  const Dim& d = n.TypeOf(input).shape[axis];
  return d.unknown() ? n.In(input) : d.ToString();
}

// Returns the name of the mask. If the mask has one row or one column, emits an Expand to all queries and
// keys. ONNX allows such a mask to broadcast, but runtimes do not support this. Layers with the same mask use
// the same Expand.
std::string ExpandedMask(TernNode& n) {
  const Shape& mask = n.TypeOf(3).shape;
  const bool one_row = mask.rank() == 1 || (mask.rank() > 1 && mask[-2].Is(1));
  const bool one_column = mask.rank() == 0 || (mask.rank() > 0 && mask[-1].Is(1));
  if (!one_row && !one_column) return n.In(3);
  const bool past = one_column && n.Has(4);
  const std::string key = StrCat(n.In(3), ":mask:", DimText(n, 0, -2), ":",
                                 one_column ? DimText(n, 1, -2) : "", ":", past ? DimText(n, 4, -2) : "");
  return n.Once(key, [&] {
    const Dim &queries = n.TypeOf(0).shape[-2], &keys = n.TypeOf(1).shape[-2];
    if (queries.known() && !past && (!one_column || keys.known()))
      return n.Op("Expand", {n.In(3), n.Ints({queries.value(), one_column ? keys.value() : 1})});
    std::string columns = one_column ? DimOf(n, 1, -2) : n.Ints({1});
    if (past) columns = n.Op("Add", {columns, DimOf(n, 4, -2)});
    return n.Op("Expand", {n.In(3), n.Op("Concat", {DimOf(n, 0, -2), columns}, {{"axis", int64_t{0}}})});
  });
}

std::vector<int64_t> Swapped() { return {0, 2, 1, 3}; }

std::string Packed(TernNode& n, const std::string& split) {
  return n.Op("Reshape", {n.Op("Transpose", {split}, {{"perm", Swapped()}}), n.Ints({0, 0, -1})});
}

std::string Split(TernNode& n, const std::string& packed, int64_t heads) {
  return n.Op("Transpose", {n.Op("Reshape", {packed, n.Ints({0, 0, heads, -1})})}, {{"perm", Swapped()}});
}

// Returns the names of q, k and v. If the node's input is a joint value, emits a Split of it.
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
    return n.NotExportable("the last dim of the packed QKV input is not known");
  }
  std::array<std::string, 3> names = {n.Temp(), n.Temp(), n.Temp()};
  n.Emit("Split", inputs, {names[0], names[1], names[2]}, attrs);
  return names;
}

// ONNX requires the same layout for q, k, v and the result. If their layouts differ, q, k and v are converted
// to rank 4, and the result is converted back.
struct Layouts {
  bool packed = true;  // q, k, v and the result are [batch, length, heads * size]
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

// Exports a stacked past and present, which contain keys and values in one tensor. The constructor emits
// nodes that split the past, and replaces the operator's inputs and outputs. Stack() emits nodes that stack
// the present. It must be called after the operator is emitted.
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

// Emits nodes that replace NaN by 0 in y. Used for an Attention with the attribute `guarded`, which returns 0
// for a query whose keys are all masked or whose scores contain NaN. For masked keys, ONNX does not specify
// the result of such a query, and runtimes return 0 or NaN. The nodes also replace a NaN that comes from v,
// although Tern's Attention would return NaN.
void EmitGuard(TernNode& n, const std::string& y) {
  n.Emit("Where", {n.Op("IsNaN", {y}), n.Scalar(n.node.output(0)->type.dtype, 0), y}, {n.Out(0)});
}

Status ExportAttention(TernNode& n) {
  TERN_ASSIGN(const Layouts layouts, Layouts::Of(n));
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
  const bool guarded = n.attrs().Bool("guarded");
  const std::string result = guarded ? outputs[0] = n.Temp() : outputs[0];
  TERN_ASSIGN(const auto operands, Operands(n));
  std::copy(operands.begin(), operands.end(), inputs.begin());
  if (n.Has(3)) inputs[3] = ExpandedMask(n);
  Present present(n, inputs, outputs);
  if (layouts.packed) {
    attrs.emplace_back("q_num_heads", q_heads);
    attrs.emplace_back("kv_num_heads", kv_heads);
    n.Emit("Attention", inputs, outputs, attrs);
    present.Stack();
    if (guarded) EmitGuard(n, result);
    return {};
  }
  for (size_t i = 0; i < 3; ++i)
    if (layouts.packed_input[i]) inputs[i] = Split(n, inputs[i], i == 0 ? q_heads : kv_heads);
  const bool merge = n.attrs().Bool("merged");
  if (merge) outputs[0] = n.Temp();
  n.Emit("Attention", inputs, outputs, attrs);
  present.Stack();
  if (merge)
    n.Emit("Reshape", {n.Op("Transpose", {outputs[0]}, {{"perm", Swapped()}}), n.Ints({0, 0, -1})}, {result});
  if (guarded) EmitGuard(n, result);
  return {};
}

// `input` is an input of positions or angles. If it has one row for all samples, emits an Expand to one row
// per sample. Returns the name of the result. Layers with the same input use the same Expand.
std::string ForEachSample(TernNode& n, int input, const std::string& name) {
  const Shape &x = n.TypeOf(0).shape, &rows = n.TypeOf(input).shape;
  if (!rows.ranked || !rows[0].Is(1) || (x.ranked && x[0].Is(1))) return name;
  const std::string batch = x.ranked ? DimText(n, 0, 0) : n.In(0);
  return n.Once(StrCat(name, ":batch:", batch), [&] {
    std::vector<int64_t> target(static_cast<size_t>(rows.rank()), 1);
    if (x.ranked && x[0].known()) {
      target[0] = x[0].value();
      return n.Op("Expand", {name, n.Ints(target)});
    }
    target.pop_back();
    const std::string size = n.Op("Shape", {n.In(0)}, {{"start", int64_t{0}}, {"end", int64_t{1}}});
    return n.Op("Expand", {name, n.Op("Concat", {size, n.Ints(target)}, {{"axis", int64_t{0}}})});
  });
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
