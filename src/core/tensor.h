// A strided view of typed elements over a shared buffer. Copying a Tensor copies the view, not the bytes.
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

// Product of dims. CHECKs against negative sizes and overflow; CheckedCount reports instead.
int64_t CountOf(const Dims& dims);
std::optional<int64_t> CheckedCount(const Dims& dims, DType dtype);
Dims ContiguousStrides(const Dims& dims);

class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Dims dims);  // zeroed, contiguous, owned
  // Over given bytes. Strides count elements; types narrower than a byte must be contiguous.
  static Tensor View(Buffer buffer, DType dtype, Dims dims);
  static Tensor View(Buffer buffer, DType dtype, Dims dims, Dims strides);

  bool defined() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Dims& dims() const { return dims_; }
  const Dims& strides() const { return strides_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i < 0 ? i + dims_.size() : i]; }  // negative counts from the end
  int64_t size() const { return size_; }
  size_t bytes() const { return BytesOf(dtype_, static_cast<size_t>(size_)); }
  bool contiguous() const { return contiguous_; }
  const Buffer& buffer() const { return buffer_; }
  void* raw() const { return buffer_.data(); }
  template <class T> T* data() const { return reinterpret_cast<T*>(buffer_.data()); }

  // The same type and dims over other bytes, at least as many; allocates nothing.
  void SetBuffer(Buffer buffer);
  // Another size along one axis, over the same bytes, which must be enough. For contiguous tensors; allocates
  // nothing.
  void SetDim(int axis, int64_t length);
  // The same bytes under other dims (contiguous tensors only, same count).
  Tensor Reshaped(Dims dims) const;
  // Itself when contiguous, else a packed copy.
  Tensor Contiguous() const;
  Tensor Clone() const;          // own, contiguous bytes
  std::string Describe() const;  // "f32[2,3]"

  // Scalars and small vectors, mostly for constants and tests.
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

// Whole tensors as one wide type, in row-major order: the reference evaluator's way to read and write.
// Doubles hold every float type exactly; Longs hold every integer and bool (u64 keeps its bits).
std::vector<double> ToDoubles(const Tensor& t);
std::vector<int64_t> ToLongs(const Tensor& t);
std::vector<std::string> ToStrings(const Tensor& t);
// Writes into an existing contiguous tensor, rounding to its type: floats to nearest even (infinity beyond
// the range of f16/bf16, saturation for the fp8s), integers by dropping high bits, bool as != 0.
void FromDoubles(const std::vector<double>& values, Tensor& t);
void FromLongs(const std::vector<int64_t>& values, Tensor& t);
void FromStrings(const std::vector<std::string>& values, Tensor& t);

// One element, by row-major index of a contiguous tensor.
double LoadDouble(const Tensor& t, int64_t i);
int64_t LoadLong(const Tensor& t, int64_t i);
void StoreDouble(Tensor& t, int64_t i, double v);
void StoreLong(Tensor& t, int64_t i, int64_t v);

// Element-wise equality of type, dims and bytes (NaN equals itself).
bool SameTensor(const Tensor& a, const Tensor& b);

}  // namespace tern
