#include "server/rollout/compare.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstring>

#include "server/core/model_config.h"
#include "server/scheduler/wire_tensor.h"

namespace tern::server {
namespace {

template <class T> double ValueAt(const std::byte* data) {
  T value{};
  std::memcpy(&value, data, sizeof value);
  return static_cast<double>(value);
}

double Load(DType dtype, const std::byte* data) {
  switch (dtype) {
    case DType::kF32:
      return ValueAt<float>(data);
    case DType::kF64:
      return ValueAt<double>(data);
    case DType::kF16:
    case DType::kBF16: {
      uint16_t bits = 0;
      std::memcpy(&bits, data, sizeof bits);
      return DecodeFloat(dtype, bits);
    }
    case DType::kI8:
      return ValueAt<int8_t>(data);
    case DType::kI16:
      return ValueAt<int16_t>(data);
    case DType::kI32:
      return ValueAt<int32_t>(data);
    case DType::kI64:
      return ValueAt<int64_t>(data);
    case DType::kU16:
      return ValueAt<uint16_t>(data);
    case DType::kU32:
      return ValueAt<uint32_t>(data);
    case DType::kU64:
      return ValueAt<uint64_t>(data);
    default:
      return ValueAt<uint8_t>(data);  // UINT8 and BOOL
  }
}

bool Close(double expected, double actual, const OutputTolerance& t) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(expected - actual) <= t.absolute + t.relative * std::abs(expected);
}

std::string Differs(const WireTensor& tensor, int64_t index, const std::string& expected,
                    const std::string& actual) {
  return StrCat("output '", tensor.name, "', element ", index, ": ", expected, " and ", actual);
}

std::string CompareValues(const WireTensor& expected, const WireTensor& actual, int64_t count,
                          const OutputTolerance& t) {
  const size_t width = ElementBytes(expected.dtype);
  const bool exact = !IsFloat(expected.dtype);
  if (std::memcmp(expected.bytes.data(), actual.bytes.data(), expected.bytes.size()) == 0) return {};
  for (int64_t i = 0; i < count; ++i) {
    const std::byte *a = expected.bytes.data() + static_cast<size_t>(i) * width,
                    *b = actual.bytes.data() + static_cast<size_t>(i) * width;
    if (exact ? std::memcmp(a, b, width) == 0 : Close(Load(expected.dtype, a), Load(expected.dtype, b), t))
      continue;
    return Differs(expected, i, StrCat(Load(expected.dtype, a)), StrCat(Load(expected.dtype, b)));
  }
  return {};
}

int64_t IndexOfLargest(const WireTensor& tensor, int64_t row, int64_t columns) {
  const size_t width = ElementBytes(tensor.dtype);
  int64_t best = -1;
  double largest = 0;
  for (int64_t i = 0; i < columns; ++i) {
    const double value =
        Load(tensor.dtype, tensor.bytes.data() + static_cast<size_t>(row * columns + i) * width);
    if (std::isnan(value) || (best >= 0 && value <= largest)) continue;
    best = i;
    largest = value;
  }
  return best;
}

std::string CompareTop1(const WireTensor& expected, const WireTensor& actual, int64_t count) {
  const int64_t columns = expected.dims.empty() ? 1 : expected.dims.back();
  for (int64_t row = 0; columns > 0 && row < count / columns; ++row) {
    const int64_t a = IndexOfLargest(expected, row, columns), b = IndexOfLargest(actual, row, columns);
    if (a != b)
      return StrCat("output '", expected.name, "', row ", row, ": the largest element is at index ", a,
                    " and ", b);
  }
  return {};
}

// Takes the next text of a BYTES tensor. Returns false at the end and for damaged bytes.
bool TakeText(std::string_view& bytes, std::string_view& text) {
  uint32_t length = 0;
  if (bytes.size() < sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (bytes.size() - sizeof length < length) return false;
  text = bytes.substr(sizeof length, length);
  bytes.remove_prefix(sizeof length + length);
  return true;
}

std::string_view TextOf(const Buffer& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string CompareTexts(const WireTensor& expected, const WireTensor& actual, const OutputTolerance& t) {
  std::string_view a = TextOf(expected.bytes), b = TextOf(actual.bytes), x, y;
  for (int64_t i = 0;; ++i) {
    const bool more = TakeText(a, x);
    if (more != TakeText(b, y))
      return StrCat("output '", expected.name, "': one of the answers has fewer texts than the other");
    if (!more) return {};
    if (!TextsAgree(x, y, t))
      return Differs(expected, i, QuoteText(x.substr(0, 40)), QuoteText(y.substr(0, 40)));
  }
}

std::string TypeText(const WireTensor& tensor) {
  return StrCat(WireName(tensor.dtype), DimsText(tensor.dims));
}

std::string CompareTensor(const WireTensor& expected, const WireTensor& actual, const OutputTolerance& t) {
  if (expected.dtype != actual.dtype || expected.dims != actual.dims)
    return StrCat("output '", expected.name, "': ", TypeText(expected), " and ", TypeText(actual));
  if (expected.dtype == DType::kString) return CompareTexts(expected, actual, t);
  const auto count = ElementCount(expected.dims);
  const auto bytes = count ? FixedBytes(expected.dtype, expected.dims) : std::nullopt;
  if (!bytes || expected.bytes.size() != *bytes || actual.bytes.size() != *bytes)
    return StrCat("output '", expected.name, "' has ", expected.bytes.size(), " and ", actual.bytes.size(),
                  " bytes");
  return t.mode == CompareMode::kTop1 ? CompareTop1(expected, actual, *count)
                                      : CompareValues(expected, actual, *count, t);
}

// Response::text names the model version, which always differs between the two answers.
std::string WithoutVersion(const std::string& json) {
  constexpr std::string_view kKey = "\"model_version\":\"";
  const size_t begin = json.find(kKey);
  if (begin == json.npos) return json;
  return json.substr(0, begin) + json.substr(std::min(json.find('"', begin + kKey.size()), json.size()));
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns the length of the number that begins here, or 0.
size_t NumberLength(std::string_view text, double& value) {
  const bool sign = !text.empty() && text[0] == '-';
  if (text.size() <= sign || !IsDigit(text[sign])) return 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() ? static_cast<size_t>(end - text.data()) : 0;
}

}  // namespace

bool TextsAgree(std::string_view a, std::string_view b, const OutputTolerance& t) {
  bool in_word = false;  // "v2" and "v3" are names, not numbers
  while (!a.empty() && !b.empty()) {
    double x = 0, y = 0;
    const size_t first = in_word ? 0 : NumberLength(a, x), second = in_word ? 0 : NumberLength(b, y);
    if (first && second) {
      if (!Close(x, y, t)) return false;
      a.remove_prefix(first);
      b.remove_prefix(second);
      continue;
    }
    if (a[0] != b[0]) return false;
    in_word = std::isalpha(static_cast<unsigned char>(a[0])) || (in_word && IsDigit(a[0]));
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty();
}

std::string CompareOutputs(const Response& expected, const Response& actual, const OutputTolerance& t) {
  if (expected.text.empty() != actual.text.empty()) return "one answer is a text";
  if (!TextsAgree(WithoutVersion(expected.text), WithoutVersion(actual.text), t)) return "the texts differ";
  if (expected.outputs.size() != actual.outputs.size())
    return StrCat(expected.outputs.size(), " outputs and ", actual.outputs.size());
  for (const WireTensor& output : expected.outputs) {
    const auto found = std::find_if(actual.outputs.begin(), actual.outputs.end(),
                                    [&](const WireTensor& other) { return other.name == output.name; });
    if (found == actual.outputs.end()) return StrCat("there is no output '", output.name, "'");
    if (std::string text = CompareTensor(output, *found, t); !text.empty()) return text;
  }
  return {};
}

}  // namespace tern::server
