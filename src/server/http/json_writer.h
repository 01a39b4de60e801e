// Writes JSON by appending to a string.
#pragma once
#include <string>
#include <string_view>

#include "server/core/message.h"

namespace tern::server {

// Appends a string in quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendJson(std::string& out, std::string_view text);
void AppendJsonParameter(std::string& out, const ParameterValue& value);
// A float becomes the shortest text that parses back to the same value, with a point or an exponent. The
// other values are written as NaN, Infinity and -Infinity, as in Triton.
void AppendJsonNumber(std::string& out, double value);
void AppendJsonNumber(std::string& out, float value);
void AppendJsonNumber(std::string& out, int64_t value);
void AppendJsonNumber(std::string& out, uint64_t value);
// Appends the name in quotes and a colon. A comma precedes the name unless `out` ends in '{' or '['.
void AppendJsonKey(std::string& out, std::string_view name);
void AppendJsonDims(std::string& out, const Dims& dims);
// Returns {"error":"…"}.
std::string ErrorJson(std::string_view message);

// What happens to BYTES that are not UTF-8: each wrong byte becomes U+FFFD, or the call fails.
enum class BadText { kReplace, kRefuse };

// Appends the elements of a tensor without brackets, separated by commas. Fails if the bytes do not match the
// dims, and for a type without a JSON form.
Status AppendJsonElements(std::string& out, const WireTensor& tensor, BadText bad_text = BadText::kReplace);

}  // namespace tern::server
