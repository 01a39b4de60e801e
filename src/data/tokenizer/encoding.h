// Operations on encodings: joining, truncation, padding.
#pragma once
#include "base/status.h"
#include "data/tokenizer/json_node.h"
#include "data/tokenizer/tokenizer.h"

namespace tern::data {

// Encodings with more tokens are refused, so that a file cannot cause allocations of any size.
constexpr size_t kMaxTokens = size_t{1} << 26;

// Appends one token that is not part of the text.
void AppendSpecial(Encoding& encoding, int64_t id, const std::string& token, int64_t type_id);
void AppendEncoding(Encoding& encoding, Encoding other);
// Keeps `count` tokens. `side` is the side from which tokens are removed.
void Cut(Encoding& encoding, size_t count, Side side);
// Cuts one or two encodings. `second` may be null. `max_length` is that of both together.
Status Truncate(const Truncation& truncation, size_t max_length, Encoding& first, Encoding* second);
// Pads the encodings to a common length.
Status Pad(const Padding& padding, std::vector<Encoding>& encodings);

Result<Truncation> ParseTruncation(const JsonNode& node);
Result<Padding> ParsePadding(const JsonNode& node);

}  // namespace tern::data
