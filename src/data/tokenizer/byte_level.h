// The printable characters that GPT-2's byte-level tokenizers write for bytes.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace tern::data {

// The character of each byte: itself for printable Latin-1 characters, else U+0100 and so on.
const std::array<char32_t, 256>& ByteCharacters();
// The byte that the character stands for, or -1.
int ByteOfCharacter(char32_t c);
// Appends the character of the byte.
void AppendByteCharacter(unsigned char byte, std::string& out);
// Returns the bytes that the characters stand for, or nullopt if a character stands for no byte.
std::optional<std::string> BytesOfCharacters(std::string_view text);

}  // namespace tern::data
