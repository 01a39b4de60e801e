// Adds special tokens to encodings, such as [CLS] and [SEP].
#pragma once
#include <memory>
#include <vector>

#include "base/status.h"
#include "data/tokenizer/json_node.h"
#include "data/tokenizer/tokenizer.h"

namespace tern::data {

// Immutable and thread-safe.
class PostProcessor {
 public:
  virtual ~PostProcessor() = default;
  // The number of tokens that Apply adds to one text or to a pair.
  virtual size_t added(bool pair) const = 0;
  // `parts` has one or two encodings. After another post-processor, it may have more. The caller joins the
  // parts afterwards.
  virtual Status Apply(std::vector<Encoding>& parts, bool add_special_tokens) const = 0;
};

Result<std::unique_ptr<PostProcessor>> ParsePostProcessor(const JsonNode& node, int depth = 0);

}  // namespace tern::data
