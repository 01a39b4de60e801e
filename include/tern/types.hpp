// The small types of Tern's C++ API: statuses, results, element types, shapes. Included by tern/tern.hpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// Inside the library, the types of this header are in the namespace tern::v1, because the library has
// internal types of the same names (tern::Status, tern::Result, …).
#if defined(TERN_BUILDING_API)
#define TERN_API_NAMESPACE namespace v1
#else
#define TERN_API_NAMESPACE inline namespace v1
#endif

namespace tern {
TERN_API_NAMESPACE {
  const char* Version();  // "0.1.0"

  enum class Code : uint8_t {
    kOk,
    kInvalidArgument,  // a mistake of the caller: wrong name, shape, option
    kInvalidModel,     // the file is broken or contradicts itself
    kUnsupported,      // a valid request that Tern does not support
    kNotFound,
    kIo,
    kResourceExhausted,
    kInternal,   // a bug in Tern
    kCancelled,  // the caller cancelled the run, or the run's time limit passed
  };

  class [[nodiscard]] Status {
   public:
    Status() = default;
    Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
    bool ok() const { return code_ == Code::kOk; }
    Code code() const { return code_; }
    // Returns the error message. It contains the names and numbers of the failure, and the operation that
    // failed.
    const std::string& message() const { return message_; }

   private:
    Code code_ = Code::kOk;
    std::string message_;
  };

  // A value or an error. Check ok() before accessing the value.
  template <class T> class [[nodiscard]] Result {
   public:
    Result(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: implicit on purpose
    Result(Status status) : status_(std::move(status)) {}               // NOLINT
    bool ok() const { return value_ != nullptr; }
    const Status& status() const { return status_; }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }

   private:
    std::unique_ptr<T> value_;
    Status status_;
  };

  // Element types. f16, bf16, fp8 and smaller types have no C++ type and are accessed as raw bits.
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
  };
  const char* Name(DType dtype);  // "f32"

  // The element type that corresponds to a C++ type; kInvalid if there is none. Elements of types without a
  // C++ type are accessed through raw().
  template <class T> inline constexpr DType kTypeOf = DType::kInvalid;
  template <> inline constexpr DType kTypeOf<float> = DType::kF32;
  template <> inline constexpr DType kTypeOf<double> = DType::kF64;
  template <> inline constexpr DType kTypeOf<int8_t> = DType::kI8;
  template <> inline constexpr DType kTypeOf<int16_t> = DType::kI16;
  template <> inline constexpr DType kTypeOf<int32_t> = DType::kI32;
  template <> inline constexpr DType kTypeOf<int64_t> = DType::kI64;
  template <> inline constexpr DType kTypeOf<uint8_t> = DType::kU8;
  template <> inline constexpr DType kTypeOf<uint16_t> = DType::kU16;
  template <> inline constexpr DType kTypeOf<uint32_t> = DType::kU32;
  template <> inline constexpr DType kTypeOf<uint64_t> = DType::kU64;
  template <> inline constexpr DType kTypeOf<bool> = DType::kBool;
  template <> inline constexpr DType kTypeOf<std::string> = DType::kString;

  using Shape = std::vector<int64_t>;

}  // TERN_API_NAMESPACE
}  // namespace tern
