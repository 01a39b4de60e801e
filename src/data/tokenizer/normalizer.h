// Changes a text before it is divided into words: normal forms, case, accents, replacements.
#pragma once
#include <memory>
#include <string>

#include "base/status.h"
#include "data/tokenizer/aligned_text.h"
#include "data/tokenizer/json_node.h"

namespace tern::data {

// Immutable and thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual Status Apply(AlignedText& text) const = 0;
};

Result<std::unique_ptr<Normalizer>> ParseNormalizer(const JsonNode& node, int depth = 0);

// The normalizer of SentencePiece: a double-array trie of replacements, in base64.
Result<std::unique_ptr<Normalizer>> MakePrecompiled(std::string_view base64);

}  // namespace tern::data
