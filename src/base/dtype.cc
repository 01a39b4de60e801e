#include "base/dtype.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tern {
namespace {

struct TypeRow {
  const char* name;
  int bits;
};
constexpr TypeRow kRows[] = {
    {"invalid", 0},    {"f32", 32},   {"f64", 64},       {"f16", 16},   {"bf16", 16},  {"f8e4m3fn", 8},
    {"f8e4m3fnuz", 8}, {"f8e5m2", 8}, {"f8e5m2fnuz", 8}, {"f8e8m0", 8}, {"f4e2m1", 4}, {"i8", 8},
    {"i16", 16},       {"i32", 32},   {"i64", 64},       {"u8", 8},     {"u16", 16},   {"u32", 32},
    {"u64", 64},       {"i4", 4},     {"u4", 4},         {"i2", 2},     {"u2", 2},     {"bool", 8},
    {"string", 0},     {"c64", 64},   {"c128", 128}};
static_assert(sizeof kRows / sizeof kRows[0] == static_cast<size_t>(DType::kCount));

// The bit layout of a float type of 16 bits or less. From high to low: sign, exponent, mantissa.
struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  bool has_infinity;       // infinity has an exponent of all ones and a mantissa of zero
  bool nan_is_minus_zero;  // the "uz" formats: the bits of -0 are the only NaN
  bool has_nan;
};

const FloatFormat& FormatOf(DType t) {
  static constexpr FloatFormat kHalf{5, 10, 15, true, false, true}, kBFloat{8, 7, 127, true, false, true},
      kE4M3FN{4, 3, 7, false, false, true}, kE4M3FNUZ{4, 3, 8, false, true, true},
      kE5M2{5, 2, 15, true, false, true}, kE5M2FNUZ{5, 2, 16, false, true, true},
      kE2M1{2, 1, 1, false, false, false};
  switch (t) {
    case DType::kBF16:
      return kBFloat;
    case DType::kF8E4M3FN:
      return kE4M3FN;
    case DType::kF8E4M3FNUZ:
      return kE4M3FNUZ;
    case DType::kF8E5M2:
      return kE5M2;
    case DType::kF8E5M2FNUZ:
      return kE5M2FNUZ;
    case DType::kF4E2M1:
      return kE2M1;
    default:
      return kHalf;
  }
}

uint32_t MaxFiniteBits(const FloatFormat& f) {
  const uint32_t all = (1u << (f.exponent_bits + f.mantissa_bits)) - 1;
  if (f.has_infinity) return all - (1u << f.mantissa_bits);  // the largest exponent encodes infinity and NaN
  if (f.nan_is_minus_zero || !f.has_nan) return all;
  return all - 1;  // e4m3fn: NaN has all bits of the exponent and the mantissa set
}

uint32_t NanBits(const FloatFormat& f) {
  const int width = f.exponent_bits + f.mantissa_bits;
  if (f.nan_is_minus_zero) return 1u << width;
  if (!f.has_nan) return 1u << width;  // f4 has no NaN; ml_dtypes and the ONNX test vectors store -0 instead
  if (f.has_infinity) return ((1u << f.exponent_bits) - 1) << f.mantissa_bits | 1u << (f.mantissa_bits - 1);
  return (1u << width) - 1;
}

double DecodeMagnitude(const FloatFormat& f, uint32_t bits) {
  const uint32_t mantissa = bits & ((1u << f.mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> f.mantissa_bits);
  if (exponent == 0) return std::ldexp(mantissa, 1 - f.bias - f.mantissa_bits);
  return std::ldexp((1u << f.mantissa_bits) + mantissa, exponent - f.bias - f.mantissa_bits);
}

// Returns the bits of the nearest representable magnitude; ties go to even. If the magnitude is beyond the
// finite range, the result is greater than MaxFiniteBits(f).
uint32_t RoundMagnitude(const FloatFormat& f, double magnitude) {
  int exponent;
  std::frexp(magnitude, &exponent);  // magnitude = m * 2^exponent, m in [0.5, 1)
  int field = exponent - 1 + f.bias;
  if (field < 1) field = 1;  // subnormal numbers use the smallest exponent
  const double unit = std::ldexp(1.0, field - f.bias - f.mantissa_bits);
  const double units = std::nearbyint(magnitude / unit);  // the default rounding mode is ties to even
  if (units == 0) return 0;
  const auto unit_count = static_cast<uint64_t>(units);
  const uint64_t bits = (static_cast<uint64_t>(field - 1) << f.mantissa_bits) + unit_count;
  return bits > 0x7fffffff ? 0x7fffffff : static_cast<uint32_t>(bits);
}

uint32_t EncodeE8M0(double value, bool saturate) {
  if (std::isnan(value)) return 0xff;
  if (std::isinf(value)) return saturate ? 0xfe : 0xff;
  int exponent;
  const double m = std::frexp(std::fabs(value), &exponent);
  if (m == 0) return 0;
  int field = exponent - 1 + 127;
  if (m >= 0.75) ++field;  // rounds to the nearest power of two; ties go away from zero
  if (field < 0) return 0;
  if (field > 254) return saturate ? 0xfe : 0xff;
  return static_cast<uint32_t>(field);
}

}  // namespace

const char* DTypeName(DType t) { return t < DType::kCount ? kRows[static_cast<int>(t)].name : "invalid"; }

std::optional<DType> ParseDType(std::string_view name) {
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i)
    if (name == kRows[i].name) return static_cast<DType>(i);
  return std::nullopt;
}

int BitWidth(DType t) { return t < DType::kCount ? kRows[static_cast<int>(t)].bits : 0; }
bool IsFloat(DType t) { return SetOf(t) & kFloats; }
bool IsSignedInt(DType t) { return SetOf(t) & kSignedInts; }
bool IsUnsignedInt(DType t) { return SetOf(t) & kUnsignedInts; }
bool IsComplex(DType t) { return t == DType::kC64 || t == DType::kC128; }

size_t BytesOf(DType t, size_t n) {
  if (t == DType::kString) return n * sizeof(std::string);
  const size_t bits = BitWidth(t);
  return bits >= 8 ? n * (bits / 8) : (n * bits + 7) / 8;
}

std::string Describe(DTypeSet set) {
  if (set == kAnyType) return "any type";
  if (set == kFloats) return "float";
  if (set == kInts) return "integer";
  if (set == kNumbers) return "a number";
  std::string out;
  for (int i = 1; i < static_cast<int>(DType::kCount); ++i) {
    if (!(set >> i & 1)) continue;
    if (!out.empty()) out += " or ";
    out += kRows[i].name;
  }
  return out;
}

float DecodeFloat(DType t, uint32_t bits) {
  if (t == DType::kF16) return HalfToFloat(static_cast<uint16_t>(bits));
  if (t == DType::kBF16) return BFloatToFloat(static_cast<uint16_t>(bits));
  if (t == DType::kF8E8M0)
    return bits == 0xff ? std::nanf("") : static_cast<float>(std::ldexp(1.0, static_cast<int>(bits) - 127));
  const FloatFormat& f = FormatOf(t);
  const int width = f.exponent_bits + f.mantissa_bits;
  const bool negative = bits >> width & 1;
  const uint32_t magnitude = bits & ((1u << width) - 1);
  if (f.nan_is_minus_zero && negative && magnitude == 0) return std::nanf("");
  if (f.has_nan && !f.nan_is_minus_zero && magnitude > MaxFiniteBits(f)) {
    const bool infinite = f.has_infinity && magnitude == MaxFiniteBits(f) + 1;
    if (!infinite) return std::nanf("");
    return negative ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
  }
  const auto value = static_cast<float>(DecodeMagnitude(f, magnitude));
  return negative ? -value : value;
}

uint32_t EncodeFloat(DType t, double value, bool saturate) {
  if (t == DType::kF8E8M0) return EncodeE8M0(value, saturate);
  const FloatFormat& f = FormatOf(t);
  const uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.mantissa_bits) : 0;
  if (std::isnan(value))
    return f.nan_is_minus_zero ? NanBits(f) : (f.has_nan ? NanBits(f) | sign : NanBits(f));
  const bool wide = t == DType::kF16 || t == DType::kBF16;  // overflows to infinity, as in IEEE 754
  const uint32_t limit = MaxFiniteBits(f);
  uint32_t bits = std::isinf(value) ? 0x7fffffff : RoundMagnitude(f, std::fabs(value));
  if (bits > limit) {
    if (wide)
      bits = limit + 1;
    else if (saturate || !f.has_nan)
      bits = limit;
    else if (f.has_infinity)
      bits = limit + 1;
    else
      return f.nan_is_minus_zero ? NanBits(f) : NanBits(f) | sign;
  }
  if (bits == 0 && f.nan_is_minus_zero) return 0;
  return bits | sign;
}

float HalfToFloat(uint16_t h) {
  const uint32_t sign = static_cast<uint32_t>(h & 0x8000) << 16;
  uint32_t exponent = h >> 10 & 0x1f, mantissa = h & 0x3ff, bits;
  if (exponent == 0x1f) {
    bits = sign | 0x7f800000 | mantissa << 13;
  } else if (exponent != 0) {
    bits = sign | (exponent + 112) << 23 | mantissa << 13;
  } else {
    const float value = static_cast<float>(mantissa) * 0x1p-24f;
    std::memcpy(&bits, &value, 4);
    bits |= sign;
  }
  float out;
  std::memcpy(&out, &bits, 4);
  return out;
}

uint16_t FloatToHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  const uint16_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // would round beyond 65504, the largest half
  if (magnitude < 0x38800000) {  // the result is subnormal; adding 0.5 rounds and aligns its mantissa
    float m;
    std::memcpy(&m, &magnitude, 4);
    m += 0.5f;
    uint32_t aligned;
    std::memcpy(&aligned, &m, 4);
    return sign | static_cast<uint16_t>(aligned - 0x3f000000);
  }
  const uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
  return sign | static_cast<uint16_t>((rounded - 0x38000000) >> 13);
}

float BFloatToFloat(uint16_t b) {
  const uint32_t bits = static_cast<uint32_t>(b) << 16;
  float out;
  std::memcpy(&out, &bits, 4);
  return out;
}

uint16_t FloatToBFloat(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace tern
