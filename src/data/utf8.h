// Converts UTF-8 to code points and back.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tern::data {

// Returns nullopt if the text is not valid UTF-8.
std::optional<std::vector<uint32_t>> DecodeUtf8(std::string_view text);
// Appends the code point as UTF-8. If it is a surrogate or above 0x10ffff, returns false and leaves `out`
// unchanged.
bool AppendUtf8(uint32_t code_point, std::string& out);

}  // namespace tern::data
