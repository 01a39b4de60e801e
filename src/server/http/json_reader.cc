#include "server/http/json_reader.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace tern::server {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendUtf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      out += static_cast<char>(0xE0 | c >> 12);
    } else {
      out += static_cast<char>(0xF0 | c >> 18);
      out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
  }
  out += static_cast<char>(0x80 | (c & 0x3F));
}

}  // namespace

void JsonReader::Space() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
    ++at_;
}

Status JsonReader::Fail(std::string_view what) const {
  return InvalidArgument("failed to parse the request JSON buffer: ", what, " at ", at_);
}

Status JsonReader::Enter() {
  if (++depth_ > max_depth_)
    return InvalidArgument("JSON nesting depth exceeds maximum allowed limit (", max_depth_, ")");
  return {};
}

Status JsonReader::Expect(char c, std::string_view what) {
  Space();
  if (at_ >= text_.size() || text_[at_] != c) return Fail(what);
  ++at_;
  return {};
}

bool JsonReader::Take(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

JsonReader::Kind JsonReader::Peek() {
  Space();
  if (at_ >= text_.size()) return Kind::kNone;
  switch (text_[at_]) {
    case '{':
      return Kind::kObject;
    case '[':
      return Kind::kArray;
    case '"':
      return Kind::kString;
    case 't':
    case 'f':
      return Kind::kBool;
    case 'n':
      return Kind::kNull;
    case '-':
    case 'N':
    case 'I':
      return Kind::kNumber;
    default:
      return IsDigit(text_[at_]) ? Kind::kNumber : Kind::kNone;
  }
}

Status JsonReader::Next(char close, bool& more) {
  Space();
  if (at_ >= text_.size() || (text_[at_] != ',' && text_[at_] != close))
    return Fail(close == '}' ? "missing a comma or } after an object member"
                             : "missing a comma or ] after an array element");
  more = text_[at_++] == ',';
  return {};
}

Status JsonReader::Key(std::string_view& key, std::string& storage) {
  Space();
  if (at_ >= text_.size() || text_[at_] != '"') return Fail("missing a name for object member");
  TERN_TRY(String(key, storage));
  return Expect(':', "missing a colon after a name of object member");
}

Status JsonReader::String(std::string& value) {
  std::string_view view;
  std::string storage;
  TERN_TRY(String(view, storage));
  value.assign(view);
  return {};
}

Status JsonReader::String(std::string_view& value, std::string& storage) {
  TERN_TRY(Expect('"', "expected a string"));
  const size_t begin = at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' &&
         static_cast<unsigned char>(text_[at_]) >= 0x20)
    ++at_;
  if (at_ < text_.size() && text_[at_] == '"') {
    value = text_.substr(begin, at_++ - begin);
    return {};
  }
  storage.assign(text_.substr(begin, at_ - begin));
  while (at_ < text_.size() && text_[at_] != '"') {
    if (static_cast<unsigned char>(text_[at_]) < 0x20) return Fail("control character in a string");
    if (text_[at_] == '\\') {
      TERN_TRY(Escape(storage));
    } else {
      storage += text_[at_++];
    }
  }
  if (at_ >= text_.size()) return Fail("missing a closing quotation mark in string");
  ++at_;
  value = storage;
  return {};
}

Status JsonReader::Hex(uint32_t& value) {
  if (left() < 4) return Fail("incorrect hex digit after \\u escape in string");
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, value, 16);
  if (error != std::errc() || end != text_.data() + at_ + 4)
    return Fail("incorrect hex digit after \\u escape in string");
  at_ += 4;
  return {};
}

Status JsonReader::Escape(std::string& out) {
  if (left() < 2) return Fail("missing a closing quotation mark in string");
  const char c = text_[at_ + 1];
  constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
  if (const size_t i = kNames.find(c); i != kNames.npos) {
    out += kValues[i];
    at_ += 2;
    return {};
  }
  if (c != 'u') return Fail("invalid escape character in string");
  at_ += 2;
  uint32_t code = 0, low = 0;
  TERN_TRY(Hex(code));
  if (code >= 0xDC00 && code < 0xE000) return Fail("the surrogate pair in string is invalid");
  if (code >= 0xD800 && code < 0xDC00) {
    if (!Take("\\u")) return Fail("the surrogate pair in string is invalid");
    TERN_TRY(Hex(low));
    if (low < 0xDC00 || low >= 0xE000) return Fail("the surrogate pair in string is invalid");
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  AppendUtf8(out, code);
  return {};
}

Status JsonReader::Number(JsonNumber& number) {
  Space();
  const size_t begin = at_;
  number = JsonNumber();
  number.negative = at_ < text_.size() && text_[at_] == '-';
  if (number.negative) ++at_;
  if (Take("NaN") || Take("Infinity") || Take("Inf")) {
    number.text = text_.substr(begin, at_ - begin);
    return {};
  }
  const size_t digits = at_;
  bool fits = true;
  for (; at_ < text_.size() && IsDigit(text_[at_]); ++at_) {
    fits =
        fits && !__builtin_mul_overflow(number.magnitude, uint64_t{10}, &number.magnitude) &&
        !__builtin_add_overflow(number.magnitude, static_cast<uint64_t>(text_[at_] - '0'), &number.magnitude);
  }
  if (at_ == digits || (text_[digits] == '0' && at_ > digits + 1)) return Fail("invalid value");
  number.integer = fits && !(number.negative && number.magnitude > uint64_t{1} << 63);
  if (at_ < text_.size() && text_[at_] == '.') {
    number.integer = false;
    const size_t fraction = ++at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    if (at_ == fraction) return Fail("missing fraction part in number");
  }
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    number.integer = false;
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    const size_t exponent = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    if (at_ == exponent) return Fail("missing exponent in number");
  }
  number.text = text_.substr(begin, at_ - begin);
  return {};
}

Status JsonReader::Bool(bool& value) {
  Space();
  value = at_ < text_.size() && text_[at_] == 't';
  return Take("true") || Take("false") ? Status() : Fail("expected a boolean");
}

Status JsonReader::Null() {
  Space();
  return Take("null") ? Status() : Fail("expected null");
}

Status JsonReader::Skip() {
  JsonNumber number;
  std::string storage;
  std::string_view view;
  bool flag = false;
  switch (Peek()) {
    case Kind::kObject:
      return Object([this](std::string_view) { return Skip(); });
    case Kind::kArray:
      return Array([this] { return Skip(); });
    case Kind::kString:
      return String(view, storage);
    case Kind::kNumber:
      return Number(number);
    case Kind::kBool:
      return Bool(flag);
    case Kind::kNull:
      return Null();
    default:
      return Fail(at_ < text_.size() ? "invalid value" : "the document is empty or ends early");
  }
}

Status JsonReader::End() {
  Space();
  return at_ == text_.size() ? Status() : Fail("the document root must not be followed by other values");
}

namespace {

template <class T> Status ParseFloat(const JsonNumber& number, T& value) {
  std::string_view text = number.text;
  if (number.negative) text.remove_prefix(1);
  if (text.starts_with('N')) {
    value = std::numeric_limits<T>::quiet_NaN();
  } else if (text.starts_with('I')) {
    value = std::numeric_limits<T>::infinity();
  } else {
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    // from_chars reports the same error for too small and for too large numbers. strtod distinguishes them.
    if (result.ec == std::errc::result_out_of_range) {
      const double wide = std::strtod(std::string(text).c_str(), nullptr);
      value = static_cast<T>(std::min<double>(wide, std::numeric_limits<T>::infinity()));
    }
    if (std::isinf(value))
      return InvalidArgument("the number ", number.text.substr(0, 40), " is out of range");
  }
  if (number.negative) value = -value;
  return {};
}

Status NotAnInteger(const JsonNumber& number, const char* type) {
  return InvalidArgument("the number ", number.text.substr(0, 40), " is not ", type);
}

}  // namespace

Status ToFloat(const JsonNumber& number, float& value) { return ParseFloat(number, value); }
Status ToDouble(const JsonNumber& number, double& value) { return ParseFloat(number, value); }

Status ToInt64(const JsonNumber& number, int64_t& value) {
  if (!number.integer || (!number.negative && number.magnitude > uint64_t{INT64_MAX}))
    return NotAnInteger(number, "a signed 64-bit integer");
  value = static_cast<int64_t>(number.negative ? ~number.magnitude + 1 : number.magnitude);
  return {};
}

Status ToUint64(const JsonNumber& number, uint64_t& value) {
  if (!number.integer || (number.negative && number.magnitude != 0))
    return NotAnInteger(number, "an unsigned 64-bit integer");
  value = number.magnitude;
  return {};
}

}  // namespace tern::server
