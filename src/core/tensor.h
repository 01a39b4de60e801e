// A strided view of typed elements in a shared buffer. Copying a Tensor copies the view, not the bytes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "core/buffer.h"

namespace tern {

using Dims = std::vector<int64_t>;

// Return the number of elements, which is the product of the dims. CheckedCount returns nullopt if a dim is
// negative or if the elements need more than 2^46 bytes. For this limit, a dim of 0 counts as 1, a string as
// 256 bytes, and an element of less than 8 bits as one byte. CountOf assumes elements of one byte, and throws
// InternalError instead of returning nullopt.
int64_t CountOf(const Dims& dims);
std::optional<int64_t> CheckedCount(const Dims& dims, DType dtype);
Dims ContiguousStrides(const Dims& dims);

class Tensor {
 public:
  Tensor() = default;
  // Allocates a zeroed, contiguous tensor. Throws std::length_error or std::bad_alloc if it is too large.
  Tensor(DType dtype, Dims dims);
  // Return a view of the bytes in `buffer`. The unit of `strides` is elements. A tensor with elements of less
  // than 8 bits must be contiguous.
  static Tensor View(Buffer buffer, DType dtype, Dims dims);
  static Tensor View(Buffer buffer, DType dtype, Dims dims, Dims strides);

  bool defined() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  const Dims& strides() const { return strides_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  // A negative `i` counts from the end.
  int64_t dim(int i) const { return dims_[i < 0 ? i + dims_.size() : i]; }
  int64_t size() const { return size_; }
  size_t bytes() const { return BytesOf(dtype_, static_cast<size_t>(size_)); }
  bool contiguous() const { return contiguous_; }
  const Buffer& buffer() const { return buffer_; }
  void* raw() const { return buffer_.data(); }
  template <class T> T* data() const { return reinterpret_cast<T*>(buffer_.data()); }

  // Replaces the buffer, but not the type and dims. The tensor must be contiguous, and `buffer` must be large
  // enough. Does not allocate.
  void SetBuffer(Buffer buffer);
  // Changes the size of one axis. The buffer stays the same and must be large enough. The tensor must be
  // contiguous. Does not allocate.
  void SetDim(int axis, int64_t length);
  // Returns a view of the same bytes with other dims. The product of the dims must stay the same. The tensor
  // must be contiguous.
  Tensor Reshaped(Dims dims) const;
  // Returns this tensor if it is contiguous, else a contiguous copy.
  Tensor Contiguous() const;
  Tensor Clone() const;          // an owned contiguous copy
  std::string Describe() const;  // "f32[2,3]"

  // Make scalars and small tensors, mostly for constants and tests.
  static Tensor Of(DType dtype, const Dims& dims, const std::vector<double>& values);
  static Tensor Ints(const std::vector<int64_t>& values);  // i64[n]
  static Tensor Scalar(DType dtype, double value);
  static Tensor Strings(const Dims& dims, const std::vector<std::string>& values);

 private:
  DType dtype_ = DType::kInvalid;
  bool contiguous_ = true;
  int64_t size_ = 0;
  Dims dims_;
  Dims strides_;
  Buffer buffer_;
};

std::string Describe(DType dtype, const Dims& dims);

// Return all elements in row-major order, for reference evaluators. ToDoubles is exact for float types.
// ToLongs is exact for bools and integers, except that u64 values above INT64_MAX become the negative numbers
// with the same bits.
std::vector<double> ToDoubles(const Tensor& t);
std::vector<int64_t> ToLongs(const Tensor& t);
std::vector<std::string> ToStrings(const Tensor& t);
// Write all elements of a contiguous tensor, in row-major order. The values are converted to the type of `t`.
// Floats round to nearest. Ties go to even, but in f8e8m0 away from zero. f16 and bf16 overflow to infinity,
// and smaller float types saturate. Integers drop the high bits that do not fit. From a double, NaN becomes
// 0, and a value outside the range of int64 becomes INT64_MIN or INT64_MAX before high bits are dropped; the
// upper limit of u64 is UINT64_MAX. A bool is true if the value is not 0.
void FromDoubles(const std::vector<double>& values, Tensor& t);
void FromLongs(const std::vector<int64_t>& values, Tensor& t);
void FromStrings(const std::vector<std::string>& values, Tensor& t);

// Load or store one element of a contiguous tensor. `i` is its row-major index.
double LoadDouble(const Tensor& t, int64_t i);
int64_t LoadLong(const Tensor& t, int64_t i);
void StoreDouble(Tensor& t, int64_t i, double v);
void StoreLong(Tensor& t, int64_t i, int64_t v);

// Returns whether types, dims and bytes are equal. A NaN equals a NaN with the same bits.
bool SameTensor(const Tensor& a, const Tensor& b);

}  // namespace tern
