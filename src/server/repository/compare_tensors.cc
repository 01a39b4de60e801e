#include "server/repository/compare_tensors.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>

#include "server/core/model_config.h"

namespace tern::server {
namespace {

constexpr size_t kShownText = 40;  // bytes of a text in messages

std::string Shape(const Dims& dims) {
  std::vector<std::string> parts;
  for (const int64_t dim : dims) parts.push_back(StrCat(dim));
  return StrCat("[", Join(parts, ","), "]");
}

// Returns the indices of an element, such as "[0,3]".
std::string Place(int64_t element, const Dims& dims) {
  Dims indices(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    indices[i] = element % dims[i];
    element /= dims[i];
  }
  return Shape(indices);
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

// Counts wrong elements and describes the first one.
struct Differences {
  const WireTensor& expected;
  int64_t count = 0, wrong = 0;
  std::string first;

  void Add(int64_t element, const std::function<std::string()>& describe) {
    if (wrong++ == 0) first = StrCat(Place(element, expected.dims), ": ", describe());
  }
  Status Report() const {
    if (wrong == 0) return {};
    return InvalidModel("output '", expected.name, "'", first, "; ", wrong, " of ", count,
                        " elements are wrong");
  }
};

bool Near(double expected, double actual, const Tolerance& tolerance) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (expected == actual) return true;
  if (std::isinf(expected) || std::isinf(actual)) return false;
  return std::fabs(expected - actual) <= tolerance.absolute + tolerance.relative * std::fabs(expected);
}

// Views a tensor in aligned memory.
Tensor AlignedView(const WireTensor& tensor) {
  Buffer bytes = Buffer::Allocate(tensor.bytes.size());
  if (tensor.bytes.size() > 0) std::memcpy(bytes.data(), tensor.bytes.data(), tensor.bytes.size());
  return Tensor::View(std::move(bytes), tensor.dtype, tensor.dims);
}

Status CompareNumbers(const WireTensor& expected, const WireTensor& actual, const Tolerance& tolerance,
                      Differences& differences) {
  const bool exact = !IsFloat(expected.dtype) && (!tolerance.of_integers || expected.dtype == DType::kBool);
  const Tensor a = AlignedView(expected), b = AlignedView(actual);
  const size_t size = BytesOf(expected.dtype, 1);
  for (int64_t i = 0; i < differences.count; ++i) {
    const double x = LoadDouble(a, i), y = LoadDouble(b, i);
    const size_t at = static_cast<size_t>(i) * size;
    const bool same = exact ? std::memcmp(expected.bytes.data() + at, actual.bytes.data() + at, size) == 0
                            : Near(x, y, tolerance);
    if (same) continue;
    differences.Add(i, [&] {
      const std::string text = StrCat("expected ", Number(x), ", got ", Number(y));
      if (exact) return text;
      return StrCat(text, ", which differs by ", Number(std::fabs(x - y)), " > ", Number(tolerance.absolute),
                    " + ", Number(tolerance.relative), " * |expected|");
    });
  }
  return differences.Report();
}

// Reads the next element of BYTES. Returns false if the bytes end too early.
bool NextText(const Buffer& bytes, size_t& at, std::string_view& text) {
  uint32_t length = 0;
  if (bytes.size() - at < sizeof length) return false;
  std::memcpy(&length, bytes.data() + at, sizeof length);
  at += sizeof length;
  if (bytes.size() - at < length) return false;
  text = {reinterpret_cast<const char*>(bytes.data()) + at, length};
  at += length;
  return true;
}

std::string Quoted(std::string_view text) {
  return StrCat("'", text.substr(0, kShownText), text.size() > kShownText ? "…'" : "'");
}

Status CompareTexts(const WireTensor& expected, const WireTensor& actual, Differences& differences) {
  size_t at = 0, other = 0;
  for (int64_t i = 0; i < differences.count; ++i) {
    std::string_view x, y;
    if (!NextText(expected.bytes, at, x) || !NextText(actual.bytes, other, y))
      return InvalidModel("output '", expected.name, "' has fewer texts than its shape says");
    if (x != y) differences.Add(i, [&] { return StrCat("expected ", Quoted(x), ", got ", Quoted(y)); });
  }
  return differences.Report();
}

}  // namespace

Status CompareTensors(const WireTensor& expected, const WireTensor& actual, const Tolerance& tolerance) {
  if (expected.dtype != actual.dtype || expected.dims != actual.dims)
    return InvalidModel("output '", expected.name, "' must be ", WireName(expected.dtype),
                        Shape(expected.dims), ", got ", WireName(actual.dtype), Shape(actual.dims));
  const auto count = CheckedCount(expected.dims, expected.dtype);
  if (!count) return InvalidModel("output '", expected.name, "' is too large");
  Differences differences{expected, *count, 0, {}};
  if (expected.dtype == DType::kString) return CompareTexts(expected, actual, differences);
  const size_t bytes = BytesOf(expected.dtype, static_cast<size_t>(*count));
  if (expected.bytes.size() != bytes || actual.bytes.size() != bytes)
    return InvalidModel("output '", expected.name, "' must have ", bytes, " bytes, got ",
                        actual.bytes.size());
  return CompareNumbers(expected, actual, tolerance, differences);
}

}  // namespace tern::server
