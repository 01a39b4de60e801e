// Makes text: CTC, and ids that a tokenizer decodes.
#include "data/post/ctc.h"
#include "data/post/labels.h"
#include "data/tokenizer/tokenizer.h"
#include "pipeline/maker.h"

namespace tern::pipeline {
namespace {

class CtcMaker final : public Maker {
 public:
  CtcMaker(const Binding& binding, const BoundOutput& output, std::vector<std::string> vocabulary)
      : Maker(binding, output), step_(*output.spec.Find<CtcStep>()), vocabulary_(std::move(vocabulary)) {}

 private:
  Status Fill(const Tensor& tensor, const ItemOutputs&, const ItemInfo&, ItemResult& out) const override {
    out.kind = ItemResult::Kind::kText;
    const Tensor t = tensor.Contiguous();
    if (t.rank() < 2 || t.size() != t.dim(-1) * t.dim(-2))
      return InvalidArgument("ctc needs scores [1,steps,tokens], but output '", output_.tensor, "' is ",
                             t.Describe());
    const Tensor scores = t.Reshaped({t.dim(-2), t.dim(-1)});
    data::CtcResult best;
    if (step_.beam > 1) {
      TERN_ASSIGN(auto beams, data::CtcBeamDecode(scores, step_.blank, step_.beam));
      if (!beams.empty()) best = std::move(beams[0]);
    } else {
      TERN_ASSIGN(best, data::CtcGreedyDecode(scores, step_.blank));
    }
    TERN_ASSIGN(out.text, data::JoinTokens(best.tokens, vocabulary_));
    return {};
  }

  const CtcStep step_;
  const std::vector<std::string> vocabulary_;
};

class DecodedTextMaker final : public Maker {
 public:
  DecodedTextMaker(const Binding& binding, const BoundOutput& output,
                   std::shared_ptr<const data::Tokenizer> tokenizer)
      : Maker(binding, output), tokenizer_(std::move(tokenizer)) {}

 private:
  Status Fill(const Tensor& tensor, const ItemOutputs&, const ItemInfo&, ItemResult& out) const override {
    out.kind = ItemResult::Kind::kText;
    TERN_ASSIGN(out.text, tokenizer_->Decode(ToLongs(tensor)));
    return {};
  }

  const std::shared_ptr<const data::Tokenizer> tokenizer_;
};

}  // namespace

Result<std::shared_ptr<const OutputMaker>> MakeCtc(const Binding& binding, const BoundOutput& output) {
  const CtcStep& step = *output.spec.Find<CtcStep>();
  TERN_ASSIGN(std::vector<std::string> vocabulary, data::ReadLabels(binding.spec.PathOf(step.vocabulary)));
  for (std::string& token : vocabulary)
    if (token == step.space) token.assign(1, ' ');
  return std::shared_ptr<const OutputMaker>(
      std::make_shared<CtcMaker>(binding, output, std::move(vocabulary)));
}

Result<std::shared_ptr<const OutputMaker>> MakeDecodedText(const Binding& binding,
                                                           const BoundOutput& output) {
  const std::string& file = output.spec.Find<DecodeTextStep>()->file;
  auto tokenizer = data::Tokenizer::Load(binding.spec.PathOf(file));
  if (!tokenizer.ok())
    return InvalidArgument(PlaceOf(binding.spec, output.spec.line),
                           "decode_text: ", tokenizer.status().message());
  return std::shared_ptr<const OutputMaker>(
      std::make_shared<DecodedTextMaker>(binding, output, std::move(*tokenizer)));
}

}  // namespace tern::pipeline
