// Attention, RotaryEmbedding and LinearAttention, in the opsets that have them.
#include "export/onnx/exporter.h"

namespace tern::onnx {
namespace {

// Runtimes want a row of the mask for each query, though the specification lets one row serve all.
std::string RowPerQuery(TernNode& n) {
  if (!n.Has(3)) return "";
  const Shape &q = n.TypeOf(0).shape, &mask = n.TypeOf(3).shape;
  if (mask.rank() < 2 || !mask[-2].Is(1) || (q.ranked && q[2].Is(1))) return n.In(3);
  const std::string queries = n.Op("Shape", {n.In(0)}, {{"start", int64_t{2}}, {"end", int64_t{3}}});
  return n.Op("Expand", {n.In(3), n.Op("Concat", {queries, n.Ints({1})}, {{"axis", int64_t{0}}})});
}

Status ExportAttention(TernNode& n) {
  n.NeedOpset(n.Has(6) ? 24 : 23);
  const std::string stage = n.attrs().Text("scores");
  const int64_t mode = stage == "capped" ? 1 : stage == "masked" ? 2 : stage == "probabilities" ? 3 : 0;
  AttrList attrs = {{"is_causal", n.attrs().Bool("causal")},
                    {"softcap", static_cast<double>(n.attrs().Float("softcap"))},
                    {"qk_matmul_output_mode", mode}};
  if (const float scale = n.attrs().Float("scale"); scale != 0)
    attrs.emplace_back("scale", static_cast<double>(scale));
  std::vector<std::string> inputs = n.Ins();
  if (inputs.size() > 3) inputs[3] = RowPerQuery(n);
  n.Emit("Attention", inputs, n.Outs(), attrs);
  return {};
}

// The ONNX operator takes the caches with or without a batch axis as long as no positions are given.
Status ExportRotary(TernNode& n) {
  n.NeedOpset(23);
  n.Emit("RotaryEmbedding", n.Ins(), n.Outs(),
         {{"interleaved", n.attrs().Bool("interleaved")}, {"rotary_embedding_dim", n.attrs().Int("size")}});
  return {};
}

std::string Packed(TernNode& n, const std::string& split) {
  const std::string rows = n.Op("Transpose", {split}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return n.Op("Reshape", {rows, n.Ints({0, 0, -1})});
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
  n.Emit("Transpose", {split}, {n.Out(0)}, {{"perm", std::vector<int64_t>{0, 2, 1, 3}}});
  return {};
}

}  // namespace

TERN_EXPORTERS(attention) {
  table.Add("Attention", ExportAttention);
  table.Add("RotaryEmbedding", ExportRotary);
  table.Add("LinearAttention", ExportLinearAttention);
}

}  // namespace tern::onnx
