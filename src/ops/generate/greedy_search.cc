// GreedySearch: one sequence per prompt, grown by the likeliest word each time.
#include <algorithm>
#include <numeric>

#include "ops/generate/decoder.h"

namespace tern {
namespace {

struct GreedySearch : DecoderAttrs {};

Status Infer(const GreedySearch& op, InferContext& c) {
  TERN_TRY(InferDecoder(op, c));
  const Shape& ids = c.ShapeOf("input_ids");
  const auto length = c.LongsOf("max_length");
  c.Out("sequences", c.TypeOf("input_ids"),
        Shape({ids.ranked ? ids[0] : Dim(), length && length->size() == 1 ? Dim((*length)[0]) : Dim()}));
  return {};
}

Status Reference(const GreedySearch& op, EvalContext& c) {
  TERN_ASSIGN(const int64_t max_length, LongOf(c, "max_length", 0));
  if (max_length < 1 || max_length > kMaxSequence)
    return InvalidArgument("max_length is ", max_length, ", must be from 1 to ", kMaxSequence);
  TERN_ASSIGN(const ScoreRules rules, RulesOf(op, c));
  TERN_ASSIGN(Decoder decoder, Decoder::Start(op, c, 1));
  if (decoder.prompt_length() > max_length)
    return InvalidArgument("prompts of ", decoder.prompt_length(), " words are longer than max_length, ",
                           max_length);
  std::vector<char> ended(decoder.rows().size(), 0);
  std::vector<size_t> same(ended.size());
  std::iota(same.begin(), same.end(), size_t{0});
  bool first = true;
  while (decoder.length() < max_length &&
         !std::all_of(ended.begin(), ended.end(), [](char e) { return e; })) {
    TERN_ASSIGN(ScoreRows scores, decoder.Step());
    rules.Apply(decoder.rows(), decoder.batch(), first, scores);
    Words tokens;
    for (size_t r = 0; r < scores.size(); ++r) {
      const int64_t best = std::max_element(scores[r].begin(), scores[r].end()) - scores[r].begin();
      if (best == op.eos) ended[r] = 1;
      tokens.push_back(static_cast<int32_t>(ended[r] ? op.pad : best));
    }
    decoder.Append(tokens, same);
    first = false;
  }
  Tensor out(c.In("input_ids").dtype(), {decoder.batch(), max_length});
  for (int64_t i = 0; i < out.size(); ++i) StoreLong(out, i, op.pad);
  for (size_t r = 0; r < ended.size(); ++r)
    for (size_t i = 0; i < decoder.rows()[r].size(); ++i)
      StoreLong(out, static_cast<int64_t>(r) * max_length + static_cast<int64_t>(i), decoder.rows()[r][i]);
  c.SetOut("sequences", out);
  return {};
}

}  // namespace

TERN_OP(GreedySearch) {
  return OpDef::Of<GreedySearch>(
             "sequences that a GPT-2 decoder grows from prompts by the likeliest word each time")
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
      .Infer(Infer)
      .Reference(Reference);
}

}  // namespace tern
