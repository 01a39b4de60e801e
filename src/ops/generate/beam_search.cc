// BeamSearch: generates several sequences per prompt with a decoder, one token per step, and returns the most
// probable sequences. This file declares the op; src/generate runs it.
#include "ops/generate/search_attrs.h"

namespace tern {
namespace {

Status Infer(const BeamSearchAttrs& op, InferContext& c) {
  TERN_TRY(InferDecoder(op, c));
  const auto one = [&](const char* port) {
    const auto v = c.LongsOf(port);
    return v && v->size() == 1 ? Dim((*v)[0]) : Dim();
  };
  const Shape& ids = c.ShapeOf("input_ids");
  const Dim batch = ids.ranked ? ids[0] : Dim();
  c.Out("sequences", c.TypeOf("input_ids"), Shape({batch, one("num_return_sequences"), one("max_length")}));
  c.Out("sequences_scores", DType::kF32, Shape({batch, one("num_return_sequences")}));
  c.Out("scores", DType::kF32, Shape({Dim(), batch, one("num_beams"), op.words < 0 ? Dim() : Dim(op.words)}));
  return {};
}

constexpr DTypeSet kF32 = SetOf(DType::kF32);

}  // namespace

TERN_OP(BeamSearch) {
  return OpDef::Of<BeamSearchAttrs>("sequences that a GPT-2 decoder generates from prompts by beam search")
      .In("input_ids", kIndices)
      .Setting("max_length", kIndices)
      .OptSetting("min_length", kIndices)
      .Setting("num_beams", kIndices)
      .Setting("num_return_sequences", kIndices)
      .OptSetting("length_penalty", kFloats)
      .OptSetting("repetition_penalty", kFloats)
      .OptSetting("vocab_mask", kIndices)
      .OptSetting("prefix_vocab_mask", kIndices)
      .OptSetting("attention_mask", kIndices)
      .Out("sequences", kIndices)
      .OptOut("sequences_scores", kF32)
      .OptOut("scores", kF32)
      .Subgraph("decoder")
      .Traits(kControlFlow)
      .Infer(Infer);
}

}  // namespace tern
