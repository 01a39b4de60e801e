// Small text helpers, so that messages can be put together without iostreams.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tern {

void AppendPiece(std::string& out, std::string_view v);
void AppendPiece(std::string& out, double v);  // shortest text that reads back the same
void AppendPiece(std::string& out, float v);
void AppendPiece(std::string& out, long long v);
void AppendPiece(std::string& out, unsigned long long v);
inline void AppendPiece(std::string& out, const char* v) { AppendPiece(out, std::string_view(v)); }
inline void AppendPiece(std::string& out, const std::string& v) { AppendPiece(out, std::string_view(v)); }
inline void AppendPiece(std::string& out, char v) { out.push_back(v); }
inline void AppendPiece(std::string& out, bool v) { out += v ? "true" : "false"; }
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0> void AppendPiece(std::string& out, T v) {
  if constexpr (std::is_signed_v<T>)
    AppendPiece(out, static_cast<long long>(v));
  else
    AppendPiece(out, static_cast<unsigned long long>(v));
}

template <class... Args> std::string StrCat(const Args&... args) {
  std::string out;
  (AppendPiece(out, args), ...);
  return out;
}

// "1x3x224x224" style with any separator.
std::string Join(const std::vector<int64_t>& values, std::string_view separator);
std::string Join(const std::vector<std::string>& values, std::string_view separator);

std::vector<std::string> SplitText(std::string_view text, char separator);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);

// Strict: the whole text must be one number. False leaves `out` alone.
bool ParseInt(std::string_view text, int64_t& out);
bool ParseDouble(std::string_view text, double& out);

// Text in double quotes with \n, \", \\ and \xNN escapes; UnquoteText reverses it.
std::string QuoteText(std::string_view text);

}  // namespace tern
