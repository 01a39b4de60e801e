// Reads texts: as strings, or as the tokens of a tokenizer.
#include <algorithm>

#include "data/tokenizer/tokenizer.h"
#include "data/utf8.h"
#include "pipeline/rows.h"

namespace tern::pipeline {
namespace {

constexpr int64_t kDefaultTokens = 512;  // if neither the pipeline nor the tokenizer limits the length

Status CheckText(const Limits& limits, std::string_view text, size_t item, size_t items) {
  const std::string name = items > 1 ? StrCat("item ", item, ": ") : std::string();
  if (static_cast<int64_t>(text.size()) > limits.characters)
    return InvalidArgument(name, "the text has ", text.size(), " bytes; the limit is ", limits.characters);
  if (!data::DecodeUtf8(std::string(text))) return InvalidArgument(name, "the text is not valid UTF-8");
  return {};
}

class StringReader final : public InputReader {
 public:
  StringReader(const Limits& limits, const BoundInput& input) : limits_(limits), input_(input) {}

  Result<std::vector<ItemRows>> Read(const std::vector<std::string_view>& items,
                                     const Stop& stop) const override {
    std::vector<ItemRows> out;
    for (const std::string_view text : items) {
      TERN_TRY(stop.Check());
      TERN_TRY(CheckText(limits_, text, out.size(), items.size()));
      const int rank = std::max(1, input_.type.shape.rank());
      out.emplace_back().rows.push_back(
          {{input_.tensor, Tensor::Strings(Dims(static_cast<size_t>(rank), 1), {std::string(text)})}});
    }
    return out;
  }

 private:
  const Limits limits_;
  const BoundInput input_;
};

class TokenReader final : public InputReader {
 public:
  TokenReader(const Limits& limits, const BoundInput& input, std::shared_ptr<const data::Tokenizer> tokenizer)
      : limits_(limits),
        input_(input),
        special_(input.spec.Find<TokenizeStep>()->special_tokens),
        tokenizer_(std::move(tokenizer)) {}

  Result<std::vector<ItemRows>> Read(const std::vector<std::string_view>& items,
                                     const Stop& stop) const override {
    std::vector<std::string> texts;
    for (const std::string_view text : items) {
      TERN_TRY(stop.Check());
      TERN_TRY(CheckText(limits_, text, texts.size(), items.size()));
      texts.emplace_back(text);
    }
    TERN_ASSIGN(const std::vector<data::Encoding> encodings, tokenizer_->EncodeBatch(texts, special_, stop));
    std::vector<ItemRows> out;
    for (const data::Encoding& encoding : encodings) {
      if (encoding.size() == 0) return InvalidArgument("the text has no tokens");
      NamedTensors row = {{input_.tensor, Tokens(encoding.ids)}};
      if (!input_.mask.empty()) row.emplace_back(input_.mask, Tokens(encoding.attention_mask));
      if (!input_.type_ids.empty()) row.emplace_back(input_.type_ids, Tokens(encoding.type_ids));
      out.emplace_back().rows.push_back(std::move(row));
    }
    return out;
  }

  std::shared_ptr<const data::Tokenizer> tokenizer() const override { return tokenizer_; }

 private:
  Tensor Tokens(const std::vector<int64_t>& values) const {
    Tensor out(input_.type.dtype, {1, static_cast<int64_t>(values.size())});
    FromLongs(values, out);
    return out;
  }

  const Limits limits_;
  const BoundInput input_;
  const bool special_;
  const std::shared_ptr<const data::Tokenizer> tokenizer_;
};

// Returns the tokenizer with the lengths for truncation and padding. Options of the step override the
// tokenizer's file. If the model's number of tokens is fixed, texts are padded to it and never get more
// tokens.
Result<std::shared_ptr<const data::Tokenizer>> WithLengths(const data::Tokenizer& tokenizer,
                                                           const TokenizeStep& step, const Dim& tokens) {
  data::Truncation truncation =
      tokenizer.truncation().value_or(data::Truncation{.max_length = kDefaultTokens});
  if (step.max_length) truncation.max_length = static_cast<size_t>(step.max_length);
  data::Padding padding = tokenizer.padding().value_or(data::Padding());
  if (!tokenizer.padding())
    for (const char* name : {"[PAD]", "<pad>", "<|endoftext|>"})
      if (const auto id = tokenizer.TokenToId(name)) {
        padding.id = *id;
        padding.token = name;
        break;
      }
  if (step.pad_to) padding.fixed_length = static_cast<size_t>(step.pad_to);
  if (tokens.known()) {
    padding.fixed_length = static_cast<size_t>(tokens.value());
    truncation.max_length = std::min(truncation.max_length, *padding.fixed_length);
  }
  if (padding.fixed_length) truncation.max_length = std::min(truncation.max_length, *padding.fixed_length);
  truncation.stride = std::min(truncation.stride, truncation.max_length ? truncation.max_length - 1 : 0);
  return tokenizer.With(truncation, padding);
}

}  // namespace

Result<std::shared_ptr<const InputReader>> MakeTextReader(const Spec& spec, const BoundInput& input) {
  const std::string place = PlaceOf(spec, input.spec.line);
  if (input.kind == BoundInput::Kind::kStrings) {
    const int rank = input.type.shape.rank();
    if (input.type.dtype != DType::kString || rank > 2)
      return InvalidArgument(place, "input '", input.tensor, "' of the model is ", input.type.ToString(),
                             "; a text needs an input of strings with 1 or 2 dims");
    return std::shared_ptr<const InputReader>(std::make_shared<StringReader>(spec.limits, input));
  }
  const TokenizeStep& step = *input.spec.Find<TokenizeStep>();
  auto loaded = data::Tokenizer::Load(spec.PathOf(step.file));
  if (!loaded.ok()) return InvalidArgument(place, "tokenize: ", loaded.status().message());
  TERN_ASSIGN(auto tokenizer, WithLengths(**loaded, step, input.type.shape[1]));
  return std::shared_ptr<const InputReader>(
      std::make_shared<TokenReader>(spec.limits, input, std::move(tokenizer)));
}

}  // namespace tern::pipeline
