// Exports searches that run a decoder, and other ops for which only com.microsoft has an operator.
#include "export/onnx/ops/attr_values.h"

namespace tern::onnx {
namespace {

// Exports a search. Renames the inputs and outputs of the decoder, because the ONNX operator finds
// them by name.
Status Search(TernNode& n, const char* op, AttrList attrs) {
  const Attrs& a = n.attrs();
  attrs.insert(attrs.end(), {{"model_type", int64_t{0}},
                             {"eos_token_id", a.Int("eos")},
                             {"pad_token_id", a.Int("pad")},
                             {"no_repeat_ngram_size", a.Int("no_repeat")},
                             {"vocab_size", a.Int("words")}});
  n.Emit(op, n.Ins(), n.Outs(), attrs, kContrib);
  TERN_TRY(n.EmitSubgraphs({"decoder"}));
  std::vector<std::string> inputs = {"input_ids", "position_ids", "attention_mask"}, outputs = {"logits"};
  for (int64_t i = 0; i < a.Int("layers"); ++i) {
    inputs.push_back(StrCat("past_", i));
    outputs.push_back(StrCat("present_", i));
  }
  n.NameSubgraph(inputs, outputs);
  return {};
}

}  // namespace

TERN_EXPORTERS(generate) {
  table.Add("BeamSearch", [](TernNode& n) {
    return Search(n, "BeamSearch", {{"early_stopping", n.attrs().Bool("early_stopping")}});
  });
  table.Add("GreedySearch", [](TernNode& n) { return Search(n, "GreedySearch", {}); });
  table.Add("NGramRepeatBlock", DirectTo("NGramRepeatBlock", {"size=ngram_size"}, {}, kContrib));
  table.Add("Inverse", DirectTo("Inverse", {}, {}, kContrib));
}

}  // namespace tern::onnx
