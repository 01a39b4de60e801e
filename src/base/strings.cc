#include "base/strings.h"

#include <charconv>
#include <cmath>

template class std::vector<int64_t>;
template class std::vector<std::string>;

namespace tern {

std::string LowerCase(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 'a' - 'A');
  return text;
}

void AppendText(std::string& out, std::string_view v) { out.append(v); }

template <class T> static void AppendNumber(std::string& out, T v) {
  char text[40];
  auto end = std::to_chars(text, text + sizeof text, v).ptr;
  out.append(text, end);
}

void AppendText(std::string& out, double v) {
  if (std::isnan(v))
    out += "nan";
  else if (std::isinf(v))
    out += v < 0 ? "-inf" : "inf";
  else
    AppendNumber(out, v);
}

void AppendText(std::string& out, float v) {
  if (std::isnan(v) || std::isinf(v))
    AppendText(out, static_cast<double>(v));
  else
    AppendNumber(out, v);
}

void AppendText(std::string& out, long long v) { AppendNumber(out, v); }
void AppendText(std::string& out, unsigned long long v) { AppendNumber(out, v); }

void TextPiece::AppendTo(std::string& out) const {
  switch (kind_) {
    case Kind::kText:
      out.append(text_, size_);
      break;
    case Kind::kLiteral:
      out.append(text_);
      break;
    case Kind::kChar:
      out.push_back(static_cast<char>(int_));
      break;
    case Kind::kDouble:
      AppendText(out, double_);
      break;
    case Kind::kFloat:
      AppendText(out, float_);
      break;
    case Kind::kInt:
      AppendText(out, int_);
      break;
    case Kind::kUnsigned:
      AppendText(out, static_cast<unsigned long long>(int_));
      break;
  }
}

std::string JoinPieces(std::initializer_list<TextPiece> pieces) {
  std::string out;
  for (const TextPiece& piece : pieces) piece.AppendTo(out);
  return out;
}

std::string Join(const std::vector<int64_t>& values, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += separator;
    AppendText(out, values[i]);
  }
  return out;
}

std::string Join(const std::vector<std::string>& values, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i) out += separator;
    out += values[i];
  }
  return out;
}

std::vector<std::string> SplitText(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] != separator) continue;
    parts.emplace_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && text.substr(0, prefix.size()) == prefix;
}

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

template <class T> static bool ParseNumber(std::string_view text, T& out) {
  T value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return false;
  out = value;
  return true;
}

bool ParseInt(std::string_view text, int64_t& out) { return ParseNumber(text, out); }

bool ParseUnsigned(std::string_view text, uint64_t& out) { return ParseNumber(text, out); }

bool ParseDouble(std::string_view text, double& out) { return ParseNumber(text, out); }

std::string QuoteText(std::string_view text) {
  static const char* const kHex = "0123456789abcdef";
  std::string out = "\"";
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7f) {
      out += "\\x";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

}  // namespace tern
