#include "ir/float_text.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace tern {
namespace {

constexpr std::string_view kNanBits = "nan(0x";

// Returns the bits of element i, which must be a NaN. The tensor's type has at least 8 bits, because smaller
// types have no NaN.
uint64_t BitsAt(const Tensor& t, int64_t i) {
  const auto width = static_cast<size_t>(BitWidth(t.dtype())) / 8;
  uint64_t bits = 0;
  std::memcpy(&bits, t.data<char>() + static_cast<size_t>(i) * width, width);
  return bits;
}

uint64_t PlainNan(DType dtype) {
  return BitsAt(Tensor::Scalar(dtype, std::numeric_limits<double>::quiet_NaN()), 0);
}

std::string NanText(uint64_t bits, DType dtype) {
  if (bits == PlainNan(dtype)) return "nan";
  char text[20];
  const char* end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
  return StrCat(kNanBits, std::string_view(text, static_cast<size_t>(end - text)), ")");
}

// Returns false if the text is not a finite number in the range of float.
bool ParseSingle(const std::string& text, float& out) {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, out);
  return read.ec == std::errc() && read.ptr == end && std::isfinite(out);
}

bool StoreNanBits(Tensor& t, int64_t i, std::string_view digits) {
  const int width = BitWidth(t.dtype());
  uint64_t bits = 0;
  const char* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, bits, 16);
  if (read.ec != std::errc() || read.ptr != end || width < 8 || (width < 64 && bits >> width)) return false;
  Tensor element(t.dtype(), {});
  std::memcpy(element.raw(), &bits, static_cast<size_t>(width) / 8);
  if (!std::isnan(LoadDouble(element, 0))) return false;
  std::memcpy(t.data<char>() + i * (width / 8), &bits, static_cast<size_t>(width) / 8);
  return true;
}

}  // namespace

std::string FloatText(const Tensor& t, int64_t i) {
  const double v = LoadDouble(t, i);
  if (std::isnan(v)) return NanText(BitsAt(t, i), t.dtype());
  return t.dtype() == DType::kF64 ? StrCat(v) : StrCat(static_cast<float>(v));
}

bool StoreFloatText(Tensor& t, int64_t i, const std::string& text) {
  if (StartsWith(text, kNanBits) && text.back() == ')')
    return StoreNanBits(t, i,
                        std::string_view(text).substr(kNanBits.size(), text.size() - kNanBits.size() - 1));
  float single = 0;  // parsed as float, because parsing as double and converting would round twice
  if (t.dtype() == DType::kF32 && ParseSingle(text, single)) {
    t.data<float>()[i] = single;
    return true;
  }
  double v = 0;
  if (text == "nan")
    v = std::numeric_limits<double>::quiet_NaN();
  else if (text == "inf" || text == "-inf")
    v = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
  else if (!ParseDouble(text, v))
    return false;
  // f8e5m2 is the only 8-bit type with infinity. StoreDouble would store its largest finite value instead.
  if (t.dtype() == DType::kF8E5M2 && std::isinf(v))
    t.data<uint8_t>()[i] = static_cast<uint8_t>(EncodeFloat(t.dtype(), v, false));
  else
    StoreDouble(t, i, v);
  return true;
}

Tensor ComplexParts(const Tensor& t) {
  return Tensor::View(t.buffer(), t.dtype() == DType::kC128 ? DType::kF64 : DType::kF32, {t.size(), 2});
}

}  // namespace tern
