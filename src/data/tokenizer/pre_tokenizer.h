// Divides a text into words.
#pragma once
#include <memory>

#include "base/status.h"
#include "data/tokenizer/json_node.h"
#include "data/tokenizer/pieces.h"

namespace tern::data {

// Immutable and thread-safe.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual Status Apply(Pieces& pieces) const = 0;
  // If the last step of the pre-tokenizer replaces bytes by their printable characters, turns this
  // replacement off and returns true. Called if the model reads bytes.
  virtual bool KeepBytes() { return false; }
};

Result<std::unique_ptr<PreTokenizer>> ParsePreTokenizer(const JsonNode& node, int depth = 0);

// The pre-tokenizers that change the text.
Result<std::unique_ptr<PreTokenizer>> ParseByteLevelPreTokenizer(const JsonNode& node);
Result<std::unique_ptr<PreTokenizer>> ParseMetaspacePreTokenizer(const JsonNode& node);

enum class PrependScheme { kFirst, kNever, kAlways };
struct MetaspaceOptions {
  char32_t replacement;
  PrependScheme prepend;
  bool split;
};
// Also the options of the decoder Metaspace.
Result<MetaspaceOptions> ParseMetaspaceOptions(const JsonNode& node);

// The script of a code point for the pre-tokenizer UnicodeScripts; 0 joins with every script.
uint8_t ScriptOf(char32_t c);

}  // namespace tern::data
