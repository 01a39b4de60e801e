// Reads and writes elements of any type as double, int64 and string.
#include <cmath>
#include <cstring>

#include "core/tensor.h"

namespace tern {
namespace {

uint32_t LoadPacked(const Tensor& t, int64_t i, int bits) {
  const int64_t bit = i * bits;
  return t.data<uint8_t>()[bit >> 3] >> (bit & 7) & ((1u << bits) - 1);
}

void StorePacked(Tensor& t, int64_t i, int bits, uint32_t v) {
  const int64_t bit = i * bits;
  uint8_t& byte = t.data<uint8_t>()[bit >> 3];
  const uint8_t mask = static_cast<uint8_t>(((1u << bits) - 1) << (bit & 7));
  byte = static_cast<uint8_t>((byte & ~mask) | (v << (bit & 7) & mask));
}

int64_t SignExtend(uint32_t v, int bits) { return static_cast<int32_t>(v << (32 - bits)) >> (32 - bits); }

// NaN becomes 0. A value outside the range of int64 becomes INT64_MIN or INT64_MAX.
int64_t ToLong(double v) {
  if (std::isnan(v)) return 0;
  return v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : static_cast<int64_t>(v);
}

// NaN becomes 0. A value from 2^64 becomes UINT64_MAX. A negative value is converted to int64 first.
uint64_t ToUnsigned(double v) {
  if (v >= 0x1p64) return UINT64_MAX;
  return v >= 0x1p63 ? static_cast<uint64_t>(v) : static_cast<uint64_t>(ToLong(v));
}

}  // namespace

int64_t LoadLong(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kI8:
      return t.data<int8_t>()[i];
    case DType::kI16:
      return t.data<int16_t>()[i];
    case DType::kI32:
      return t.data<int32_t>()[i];
    case DType::kI64:
      return t.data<int64_t>()[i];
    case DType::kU8:
      return t.data<uint8_t>()[i];
    case DType::kU16:
      return t.data<uint16_t>()[i];
    case DType::kU32:
      return t.data<uint32_t>()[i];
    case DType::kU64:
      return static_cast<int64_t>(t.data<uint64_t>()[i]);
    case DType::kBool:
      return t.data<uint8_t>()[i] != 0;
    case DType::kI4:
      return SignExtend(LoadPacked(t, i, 4), 4);
    case DType::kU4:
      return LoadPacked(t, i, 4);
    case DType::kI2:
      return SignExtend(LoadPacked(t, i, 2), 2);
    case DType::kU2:
      return LoadPacked(t, i, 2);
    default:
      return ToLong(LoadDouble(t, i));
  }
}

double LoadDouble(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kF32:
      return t.data<float>()[i];
    case DType::kF64:
      return t.data<double>()[i];
    case DType::kF16:
      return HalfToFloat(t.data<uint16_t>()[i]);
    case DType::kBF16:
      return BFloatToFloat(t.data<uint16_t>()[i]);
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0:
      return DecodeFloat(t.dtype(), t.data<uint8_t>()[i]);
    case DType::kF4E2M1:
      return DecodeFloat(t.dtype(), LoadPacked(t, i, 4));
    case DType::kU64:
      return static_cast<double>(t.data<uint64_t>()[i]);
    case DType::kString:
    case DType::kInvalid:
    case DType::kC64:
    case DType::kC128:
    case DType::kCount:
      TERN_CHECK(false, "no number in ", t.Describe());
    default:
      return static_cast<double>(LoadLong(t, i));
  }
}

void StoreLong(Tensor& t, int64_t i, int64_t v) {
  switch (t.dtype()) {
    case DType::kI8:
    case DType::kU8:
      t.data<uint8_t>()[i] = static_cast<uint8_t>(v);
      return;
    case DType::kI16:
    case DType::kU16:
      t.data<uint16_t>()[i] = static_cast<uint16_t>(v);
      return;
    case DType::kI32:
    case DType::kU32:
      t.data<uint32_t>()[i] = static_cast<uint32_t>(v);
      return;
    case DType::kI64:
    case DType::kU64:
      t.data<int64_t>()[i] = v;
      return;
    case DType::kBool:
      t.data<uint8_t>()[i] = v != 0;
      return;
    case DType::kI4:
    case DType::kU4:
      return StorePacked(t, i, 4, static_cast<uint32_t>(v));
    case DType::kI2:
    case DType::kU2:
      return StorePacked(t, i, 2, static_cast<uint32_t>(v));
    default:
      return StoreDouble(t, i, static_cast<double>(v));
  }
}

void StoreDouble(Tensor& t, int64_t i, double v) {
  switch (t.dtype()) {
    case DType::kF32:
      t.data<float>()[i] = static_cast<float>(v);
      return;
    case DType::kF64:
      t.data<double>()[i] = v;
      return;
    case DType::kF16:
    case DType::kBF16:
      t.data<uint16_t>()[i] = static_cast<uint16_t>(EncodeFloat(t.dtype(), v));
      return;
    case DType::kF8E4M3FN:
    case DType::kF8E4M3FNUZ:
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
    case DType::kF8E8M0:
      t.data<uint8_t>()[i] = static_cast<uint8_t>(EncodeFloat(t.dtype(), v));
      return;
    case DType::kF4E2M1:
      return StorePacked(t, i, 4, EncodeFloat(t.dtype(), v));
    case DType::kBool:
      t.data<uint8_t>()[i] = v != 0;
      return;
    case DType::kU64:
      t.data<uint64_t>()[i] = ToUnsigned(v);
      return;
    case DType::kString:
    case DType::kInvalid:
    case DType::kC64:
    case DType::kC128:
    case DType::kCount:
      TERN_CHECK(false, "cannot store a number in ", t.Describe());
    default:
      StoreLong(t, i, ToLong(v));
  }
}

std::vector<double> ToDoubles(const Tensor& t) {
  const Tensor c = t.Contiguous();
  std::vector<double> out(static_cast<size_t>(c.size()));
  if (c.dtype() == DType::kF32) {
    const float* p = c.data<float>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = p[i];
    return out;
  }
  for (size_t i = 0; i < out.size(); ++i) out[i] = LoadDouble(c, static_cast<int64_t>(i));
  return out;
}

std::vector<int64_t> ToLongs(const Tensor& t) {
  const Tensor c = t.Contiguous();
  std::vector<int64_t> out(static_cast<size_t>(c.size()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = LoadLong(c, static_cast<int64_t>(i));
  return out;
}

std::vector<std::string> ToStrings(const Tensor& t) {
  TERN_CHECK(t.dtype() == DType::kString, "not strings: ", t.Describe());
  const Tensor c = t.Contiguous();
  const auto* p = c.data<std::string>();
  return {p, p + c.size()};
}

void FromDoubles(const std::vector<double>& values, Tensor& t) {
  TERN_CHECK(static_cast<int64_t>(values.size()) == t.size() && t.contiguous(), values.size(), " values for ",
             t.Describe());
  for (size_t i = 0; i < values.size(); ++i) StoreDouble(t, static_cast<int64_t>(i), values[i]);
}

void FromLongs(const std::vector<int64_t>& values, Tensor& t) {
  TERN_CHECK(static_cast<int64_t>(values.size()) == t.size() && t.contiguous(), values.size(), " values for ",
             t.Describe());
  for (size_t i = 0; i < values.size(); ++i) StoreLong(t, static_cast<int64_t>(i), values[i]);
}

void FromStrings(const std::vector<std::string>& values, Tensor& t) {
  TERN_CHECK(static_cast<int64_t>(values.size()) == t.size() && t.dtype() == DType::kString, values.size(),
             " strings for ", t.Describe());
  for (size_t i = 0; i < values.size(); ++i) t.data<std::string>()[i] = values[i];
}

}  // namespace tern
