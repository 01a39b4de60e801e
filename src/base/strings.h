// String helpers that build messages without iostreams.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tern {

void AppendText(std::string& out, std::string_view v);
void AppendText(std::string& out, double v);  // the shortest text that parses back to the same value
void AppendText(std::string& out, float v);
void AppendText(std::string& out, long long v);
void AppendText(std::string& out, unsigned long long v);
inline void AppendText(std::string& out, const char* v) { AppendText(out, std::string_view(v)); }
inline void AppendText(std::string& out, const std::string& v) { AppendText(out, std::string_view(v)); }
inline void AppendText(std::string& out, char v) { out.push_back(v); }
inline void AppendText(std::string& out, bool v) { out += v ? "true" : "false"; }
template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0> void AppendText(std::string& out, T v) {
  if constexpr (std::is_signed_v<T>)
    AppendText(out, static_cast<long long>(v));
  else
    AppendText(out, static_cast<unsigned long long>(v));
}

template <class... Args> std::string StrCat(const Args&... args) {
  std::string out;
  (AppendText(out, args), ...);
  return out;
}

// Joins values with a separator, such as "1x3x224x224".
std::string Join(const std::vector<int64_t>& values, std::string_view separator);
std::string Join(const std::vector<std::string>& values, std::string_view separator);

std::vector<std::string> SplitText(std::string_view text, char separator);
bool StartsWith(std::string_view text, std::string_view prefix);
bool EndsWith(std::string_view text, std::string_view suffix);

// Strict: the entire text must be one number. Returns false and leaves `out` unchanged otherwise.
bool ParseInt(std::string_view text, int64_t& out);
bool ParseDouble(std::string_view text, double& out);

// Returns the text in double quotes with \n, \", \\ and \xNN escapes.
std::string QuoteText(std::string_view text);

}  // namespace tern
