// GreedySearch: extends one sequence per prompt by the most probable token in each step. This file declares
// the op; src/generate runs it.
#include "ops/generate/search_attrs.h"

namespace tern {
namespace {

Status Infer(const GreedySearchAttrs& op, InferContext& c) {
  TERN_TRY(InferDecoder(op, c));
  const Shape& ids = c.ShapeOf("input_ids");
  const auto length = c.LongsOf("max_length");
  c.Out("sequences", c.TypeOf("input_ids"),
        Shape({ids.ranked ? ids[0] : Dim(), length && length->size() == 1 ? Dim((*length)[0]) : Dim()}));
  return {};
}

}  // namespace

TERN_OP(GreedySearch) {
  return OpDef::Of<GreedySearchAttrs>(
             "sequences that a GPT-2 decoder generates from prompts by greedy search")
      .In("input_ids", kIndices)
      .Setting("max_length", kIndices)
      .OptSetting("min_length", kIndices)
      .OptSetting("repetition_penalty", kFloats)
      .OptSetting("vocab_mask", kIndices)
      .OptSetting("prefix_vocab_mask", kIndices)
      .OptSetting("attention_mask", kIndices)
      .Out("sequences", kIndices)
      .Subgraph("decoder")
      .Traits(kControlFlow)
      .Infer(Infer);
}

}  // namespace tern
