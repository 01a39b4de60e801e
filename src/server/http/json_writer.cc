#include "server/http/json_writer.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "base/dtype.h"

namespace tern::server {
namespace {

// Returns the length of the UTF-8 sequence at the start of the text, or 0 if it is not valid.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length < 2 || text.size() < length) return length == 1 ? 1 : 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
  if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

void AppendEscape(std::string& out, unsigned char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

template <class T> void AppendFloat(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  char text[40];
  char* end = std::to_chars(text, text + sizeof text, value).ptr;
  const std::string_view digits(text, static_cast<size_t>(end - text));
  out += digits;
  if (digits.find_first_of(".e") == digits.npos) out += ".0";
}

template <class T> void AppendInteger(std::string& out, T value) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// Calls append(element) for each element of type T. The bytes may be unaligned.
template <class T, class F> void ForEach(std::string& out, const Buffer& bytes, F&& append) {
  const size_t count = bytes.size() / sizeof(T);
  out.reserve(out.size() + count * (sizeof(T) + 2));
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    if (i) out += ',';
    append(value);
  }
}

template <class T> void AppendIntegers(std::string& out, const Buffer& bytes) {
  ForEach<T>(out, bytes, [&](T value) { AppendInteger(out, value); });
}

Status Mismatch(const WireTensor& tensor) {
  return Status(Code::kInternal, StrCat("output tensor shape does not match size of output for '",
                                        tensor.name, "': the shape is [", Join(tensor.dims, ","),
                                        "], the size is ", tensor.bytes.size(), " bytes"));
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

Status AppendStrings(std::string& out, const WireTensor& tensor, size_t count, BadText bad_text) {
  const auto* data = reinterpret_cast<const char*>(tensor.bytes.data());
  size_t at = 0;
  const size_t size = tensor.bytes.size();
  for (size_t i = 0; i < count; ++i) {
    uint32_t length = 0;
    if (size - at < sizeof length) return Mismatch(tensor);
    std::memcpy(&length, data + at, sizeof length);
    at += sizeof length;
    if (size - at < length) return Mismatch(tensor);
    const std::string_view text(data + at, length);
    if (bad_text == BadText::kRefuse && !IsUtf8(text))
      return InvalidArgument("element ", i, " of output '", tensor.name,
                             "' is not UTF-8, so JSON cannot carry it; ask for binary_data");
    if (i) out += ',';
    AppendJson(out, text);
    at += length;
  }
  return {};
}

}  // namespace

void AppendJson(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    size_t length = Utf8Length(text);
    if (length > 1) {
      out.append(text.substr(0, length));
    } else if (length == 1) {
      AppendEscape(out, static_cast<unsigned char>(text[0]));
    } else {
      out += "\\ufffd";
      length = 1;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void AppendJsonParameter(std::string& out, const ParameterValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) out += *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) AppendInteger(out, *integer);
  if (const auto* number = std::get_if<double>(&value)) AppendFloat(out, *number);
  if (const auto* text = std::get_if<std::string>(&value)) AppendJson(out, *text);
}

void AppendJsonNumber(std::string& out, double value) { AppendFloat(out, value); }
void AppendJsonNumber(std::string& out, float value) { AppendFloat(out, value); }
void AppendJsonNumber(std::string& out, int64_t value) { AppendInteger(out, value); }
void AppendJsonNumber(std::string& out, uint64_t value) { AppendInteger(out, value); }

void AppendJsonKey(std::string& out, std::string_view name) {
  if (!out.empty() && out.back() != '{' && out.back() != '[') out += ',';
  AppendJson(out, name);
  out += ':';
}

void AppendJsonDims(std::string& out, const Dims& dims) {
  out += '[';
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ',';
    AppendInteger(out, dims[i]);
  }
  out += ']';
}

std::string ErrorJson(std::string_view message) {
  std::string out = "{\"error\":";
  AppendJson(out, message);
  out += '}';
  return out;
}

Status AppendJsonElements(std::string& out, const WireTensor& tensor, BadText bad_text) {
  const Buffer& bytes = tensor.bytes;
  const auto count = CheckedCount(tensor.dims, tensor.dtype);
  if (!count) return Mismatch(tensor);
  const auto elements = static_cast<size_t>(*count);
  if (tensor.dtype == DType::kString) return AppendStrings(out, tensor, elements, bad_text);
  if (BytesOf(tensor.dtype, elements) != bytes.size()) return Mismatch(tensor);
  switch (tensor.dtype) {
    case DType::kBool:
      ForEach<uint8_t>(out, bytes, [&](uint8_t value) { out += value ? "true" : "false"; });
      return {};
    case DType::kU8:
      return AppendIntegers<uint8_t>(out, bytes), Status();
    case DType::kU16:
      return AppendIntegers<uint16_t>(out, bytes), Status();
    case DType::kU32:
      return AppendIntegers<uint32_t>(out, bytes), Status();
    case DType::kU64:
      return AppendIntegers<uint64_t>(out, bytes), Status();
    case DType::kI8:
      return AppendIntegers<int8_t>(out, bytes), Status();
    case DType::kI16:
      return AppendIntegers<int16_t>(out, bytes), Status();
    case DType::kI32:
      return AppendIntegers<int32_t>(out, bytes), Status();
    case DType::kI64:
      return AppendIntegers<int64_t>(out, bytes), Status();
    case DType::kF16:
      ForEach<uint16_t>(out, bytes, [&](uint16_t value) { AppendFloat(out, HalfToFloat(value)); });
      return {};
    case DType::kBF16:
      ForEach<uint16_t>(out, bytes, [&](uint16_t value) { AppendFloat(out, BFloatToFloat(value)); });
      return {};
    case DType::kF32:
      ForEach<float>(out, bytes, [&](float value) { AppendFloat(out, value); });
      return {};
    case DType::kF64:
      ForEach<double>(out, bytes, [&](double value) { AppendFloat(out, value); });
      return {};
    default:
      return Unsupported("output '", tensor.name, "' has a type that JSON cannot carry");
  }
}

}  // namespace tern::server
