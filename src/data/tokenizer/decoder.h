// Converts tokens back to text (the `decoder` of tokenizer.json).
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/tokenizer/json_node.h"

namespace tern::data {

// Immutable and thread-safe.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // Changes the tokens so that their concatenation is the text.
  virtual Status Apply(std::vector<std::string>& tokens) const = 0;
};

Result<std::unique_ptr<Decoder>> ParseDecoder(const JsonNode& node, int depth = 0);

}  // namespace tern::data
