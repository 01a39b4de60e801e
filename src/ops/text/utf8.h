// Code points of UTF-8 text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tern {

// Decodes UTF-8. A byte that starts no valid sequence becomes U+FFFD.
std::vector<uint32_t> CodePoints(std::string_view text);
void AppendUtf8(uint32_t code, std::string& out);

// Change the case by the simple mappings of Unicode: one code point stays one code point.
uint32_t LowerOf(uint32_t code);
uint32_t UpperOf(uint32_t code);
std::string LowerText(std::string_view text);
std::string UpperText(std::string_view text);

}  // namespace tern
