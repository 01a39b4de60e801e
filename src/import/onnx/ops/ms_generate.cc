// Converts the search operators of com.microsoft, which run a decoder in a loop, and NGramRepeatBlock.
#include "import/onnx/converter.h"

namespace tern::onnx {
namespace {

constexpr int kFirstPast =
    3;  // the decoder's inputs are input_ids, position_ids, attention_mask, then the pasts

// Derives attributes of the node from the declared inputs of its decoder, such as the number of layers.
Status ReadDecoder(OnnxNode& n, Node* node) {
  const Graph& decoder = *node->subgraphs()[0];
  const auto inputs = static_cast<int>(decoder.inputs().size());
  if (inputs < kFirstPast + 1)
    return n.NotYet("a decoder with ", inputs,
                    " inputs: it needs input_ids, position_ids, attention_mask and pasts");
  const Type& ids = decoder.inputs()[0]->type;
  const Type& past = decoder.inputs()[kFirstPast]->type;
  for (int i = 1; i < kFirstPast; ++i)
    if (decoder.inputs()[static_cast<size_t>(i)]->type.dtype != ids.dtype)
      return n.NotYet("a decoder whose token ids, positions and mask differ in type");
  for (int i = kFirstPast; i < inputs; ++i)
    if (decoder.inputs()[static_cast<size_t>(i)]->type.shape.rank() != 5)
      return n.NotYet("a decoder with input ", i, " of type ",
                      decoder.inputs()[static_cast<size_t>(i)]->type.ToString());
  if (past.shape.rank() != 5 || !past.shape[2].known() || !past.shape[4].known())
    return n.NotYet("a past of type ", past.ToString());
  const AttrList attrs = {{"layers", static_cast<int64_t>(inputs - kFirstPast)},
                          {"heads", past.shape[2].value()},
                          {"head_size", past.shape[4].value()},
                          {"index_type", ids.dtype},
                          {"past_type", past.dtype}};
  for (const auto& [name, value] : attrs) TERN_TRY(node->attrs.Set(name, value));
  return {};
}

Status Search(OnnxNode& n, const char* op, std::vector<Value*> inputs, AttrList attrs) {
  if (n.Int("model_type") != 0)
    return n.NotYet("model_type ", n.Int("model_type"), ": only decoders like GPT-2's (0) are supported");
  for (const char* name : {"encoder", "init_decoder"})
    if (n.HasAttr(name)) return n.NotYet("a search with an attribute '", name, "'");
  attrs.insert(attrs.end(), {{"eos", n.Int("eos_token_id", -1)},
                             {"pad", n.Int("pad_token_id")},
                             {"no_repeat", n.Int("no_repeat_ngram_size")},
                             {"words", n.Int("vocab_size", -1)}});
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();
  Node* node = n.b.Open(op, inputs, attrs, n.OutputCount());
  TERN_TRY(n.Subgraph(node, "decoder", "decoder"));
  TERN_TRY(ReadDecoder(n, node));
  n.b.Finish(node);
  n.Out(node->outputs());
  return {};
}

Status BeamSearch(OnnxNode& n) {
  if (n.Has(10) || n.Has(11)) return n.NotYet("decoder_input_ids and logits_processor");
  std::vector<Value*> inputs;
  for (int i = 0; i < 10; ++i) inputs.push_back(n.In(i));
  return Search(n, "BeamSearch", inputs, {{"early_stopping", n.Int("early_stopping") != 0}});
}

Status GreedySearch(OnnxNode& n) {
  std::vector<Value*> inputs;
  for (int i = 0; i < 7; ++i) inputs.push_back(n.In(i));
  return Search(n, "GreedySearch", inputs, {});
}

}  // namespace

TERN_CONVERTERS(ms_generate) {
  table.Add("BeamSearch", BeamSearch, kMicrosoft);
  table.Add("GreedySearch", GreedySearch, kMicrosoft);
  table.Add("NGramRepeatBlock", Direct("NGramRepeatBlock", {"ngram_size=size"}), kMicrosoft);
}

}  // namespace tern::onnx
