// Formats numbers and names for the terminal.
#pragma once
#include <fmt/core.h>

#include <string>
#include <string_view>

namespace tern::tools {

// Formats 1234567 as "1.23M".
inline std::string Thousands(double v) {
  constexpr const char* kSuffix[] = {"", "k", "M", "G", "T", "P"};
  int i = 0;
  while (v >= 1000 && i < 5) {
    v /= 1000;
    ++i;
  }
  return i == 0 ? fmt::format("{:.0f}", v)
                : fmt::format("{:.{}f}{}", v,
                              v < 10    ? 2
                              : v < 100 ? 1
                                        : 0,
                              kSuffix[i]);
}

// Makes untrusted text safe for a terminal. Replaces control characters (except newlines) and invalid UTF-8
// by \xNN.
std::string Printable(std::string_view text);

}  // namespace tern::tools
