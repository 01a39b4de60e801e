// Element types: all types of ONNX 1.22, their widths, and conversions to and from float.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tern {

// .tern files store these numbers, so a new type must be added at the end.
enum class DType : uint8_t {
  kInvalid = 0,
  kF32,
  kF64,
  kF16,
  kBF16,
  kF8E4M3FN,
  kF8E4M3FNUZ,
  kF8E5M2,
  kF8E5M2FNUZ,
  kF8E8M0,
  kF4E2M1,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kI4,
  kU4,
  kI2,
  kU2,
  kBool,
  kString,
  kC64,
  kC128,
  kCount
};

const char* DTypeName(DType t);                          // "f32", "i64", "bool", …
std::optional<DType> ParseDType(std::string_view name);  // the inverse of DTypeName
int BitWidth(DType t);                                   // 4 for i4; 0 for strings and kInvalid

bool IsFloat(DType t);        // f64 … f4
bool IsSignedInt(DType t);    // i2 … i64
bool IsUnsignedInt(DType t);  // u2 … u64
inline bool IsInt(DType t) { return IsSignedInt(t) || IsUnsignedInt(t); }
inline bool IsNumeric(DType t) { return IsFloat(t) || IsInt(t); }
bool IsComplex(DType t);

// Returns the size of n elements in bytes. Types of less than 8 bits are packed, low bits first. For strings,
// this is the size of n std::string objects.
size_t BytesOf(DType t, size_t n);

// A set of types, for op declarations. Bit i represents DType i.
using DTypeSet = uint32_t;
constexpr DTypeSet SetOf(DType t) { return DTypeSet{1} << static_cast<int>(t); }
constexpr DTypeSet SetRange(DType a, DType b) { return (SetOf(b) << 1) - SetOf(a); }
constexpr DTypeSet kFloats = SetRange(DType::kF32, DType::kF4E2M1);
constexpr DTypeSet kSignedInts = SetRange(DType::kI8, DType::kI64) | SetOf(DType::kI4) | SetOf(DType::kI2);
constexpr DTypeSet kUnsignedInts = SetRange(DType::kU8, DType::kU64) | SetOf(DType::kU4) | SetOf(DType::kU2);
constexpr DTypeSet kInts = kSignedInts | kUnsignedInts;
constexpr DTypeSet kNumbers = kFloats | kInts;
constexpr DTypeSet kBools = SetOf(DType::kBool);
constexpr DTypeSet kStrings = SetOf(DType::kString);
constexpr DTypeSet kIndices = SetOf(DType::kI32) | SetOf(DType::kI64);
constexpr DTypeSet kAnyType = ~DTypeSet{0} & ~DTypeSet{1};
std::string Describe(DTypeSet set);  // "float", "i32 or i64", …

// These functions convert bit patterns to and from float. They round to nearest. Ties go to even, but in
// f8e8m0 away from zero. A value beyond the finite range becomes infinity in f16 and bf16. In a smaller type,
// such a value becomes the largest finite value if `saturate` is set or the type has no NaN (f4). Otherwise
// it becomes infinity, or NaN if the type has no infinity.
float DecodeFloat(DType t, uint32_t bits);  // t: f16, bf16, an fp8 type or f4
uint32_t EncodeFloat(DType t, double value, bool saturate = true);
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float value);
float BFloatToFloat(uint16_t bits);
uint16_t FloatToBFloat(float value);

}  // namespace tern
