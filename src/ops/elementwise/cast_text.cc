#include "ops/elementwise/cast_text.h"

#include <charconv>
#include <cmath>

namespace tern {
namespace {

// Returns the shortest text that parses back to the same value of type T, in scientific notation.
template <class T> std::string Scientific(T v) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific).ptr;
  return {buffer, end};
}

template <class T> std::string Positional(T v) {
  char buffer[512];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::fixed).ptr;
  return {buffer, end};
}

// Formats `v` like numpy 2.4. The notation is positional ("1.0") if `exact` is 0 or its magnitude is in
// [1e-4, limit). Otherwise it is scientific ("1e-05"). `exact` is the value of the element, which may differ
// slightly from `v`.
template <class T> std::string FloatText(T v, double limit, double exact) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  const double magnitude = std::fabs(exact);
  if (magnitude != 0 && (magnitude < 1e-4 || magnitude >= limit)) return Scientific(v);
  std::string text = Positional(v);
  return text.find('.') == std::string::npos ? text + ".0" : text;
}

// Prints the shortest decimal that rounds to the same f16, bf16 or fp8 value.
std::string SmallFloatText(DType t, float v) {
  constexpr double kLimit = 1e3;
  if (std::isnan(v) || std::isinf(v)) return FloatText(v, kLimit, v);
  for (int digits = 1; digits < 9; ++digits) {
    char buffer[64];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::scientific, digits - 1).ptr;
    float back = 0;
    std::from_chars(buffer, end, back);
    if (DecodeFloat(t, EncodeFloat(t, back)) == v) return FloatText(back, kLimit, v);
  }
  return FloatText(v, kLimit, v);
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

std::string Lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

// Removes a leading plus, which from_chars rejects. The plus of "+-1" is not removed, so that from_chars
// rejects the text.
std::string WithoutPlus(std::string text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

// Parses positional and scientific notation, inf and nan.
std::optional<double> ReadDouble(const std::string& text) {
  std::string lower = Lower(Trimmed(text));
  lower = WithoutPlus(std::move(lower));
  double v = 0;
  const auto result = std::from_chars(lower.data(), lower.data() + lower.size(), v);
  if (result.ptr != lower.data() + lower.size()) return std::nullopt;
  if (result.ec == std::errc::result_out_of_range) return std::strtod(lower.c_str(), nullptr);
  return result.ec == std::errc() ? std::optional<double>(v) : std::nullopt;
}

std::optional<int64_t> ReadLong(std::string text, bool is_signed) {
  text = WithoutPlus(std::move(text));
  int64_t v = 0;
  uint64_t u = 0;
  const char *begin = text.data(), *end = begin + text.size();
  if (auto r = std::from_chars(begin, end, v); r.ptr == end && r.ec == std::errc()) return v;
  if (auto r = std::from_chars(begin, end, u); !is_signed && r.ptr == end && r.ec == std::errc())
    return static_cast<int64_t>(u);
  return std::nullopt;
}

}  // namespace

std::string ElementText(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kF32:
      return FloatText(t.data<float>()[i], 1e6, LoadDouble(t, i));
    case DType::kF64:
      return FloatText(t.data<double>()[i], 1e16, LoadDouble(t, i));
    case DType::kBool:
      return LoadLong(t, i) ? "True" : "False";
    case DType::kU64:
      return StrCat(t.data<uint64_t>()[i]);
    default:
      break;
  }
  return IsFloat(t.dtype()) ? SmallFloatText(t.dtype(), static_cast<float>(LoadDouble(t, i)))
                            : StrCat(LoadLong(t, i));
}

Status StoreText(const std::string& text, Tensor& t, int64_t i) {
  const std::string clean = Trimmed(text), lower = Lower(clean);
  if (t.dtype() == DType::kBool && (lower == "true" || lower == "false")) {
    StoreLong(t, i, lower == "true");
    return {};
  }
  if (!IsFloat(t.dtype()))
    if (auto v = ReadLong(clean, IsSignedInt(t.dtype()))) {
      StoreLong(t, i, *v);
      return {};
    }
  const auto v = ReadDouble(clean);
  if (!v) return InvalidArgument("element ", i, ", ", QuoteText(text), ", is not a number");
  if (t.dtype() == DType::kF32) {
    // The text is parsed as float, because parsing as double and converting to float would round twice.
    const std::string digits = WithoutPlus(clean);
    float f = static_cast<float>(*v);
    std::from_chars(digits.data(), digits.data() + digits.size(), f);
    t.data<float>()[i] = f;
    return {};
  }
  StoreDouble(t, i, *v);
  return {};
}

}  // namespace tern
