// The escape sequences of Python's string literals.
#pragma once
#include <string>
#include <string_view>

namespace tern::torch::script {

// Replaces escape sequences by the characters that they stand for. Returns false if one is unknown.
bool Unescape(std::string_view text, std::string& out);

}  // namespace tern::torch::script
