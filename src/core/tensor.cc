#include "core/tensor.h"

#include <cstring>

namespace tern {

std::optional<int64_t> CheckedCount(const Dims& dims, DType dtype) {
  constexpr int64_t kMaxBytes = int64_t{1} << 46;
  // A dim of 0 counts as 1, so that the product of the other dims is checked too. Strides are computed from
  // that product.
  int64_t count = 1;
  bool empty = false;
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(count, d ? d : 1, &count)) return std::nullopt;
    empty |= d == 0;
  }
  const int64_t width = dtype == DType::kString ? 256 : BitWidth(dtype);
  if (width && count > kMaxBytes / ((width + 7) / 8)) return std::nullopt;
  return empty ? 0 : count;
}

int64_t CountOf(const Dims& dims) {
  auto count = CheckedCount(dims, DType::kI8);
  TERN_CHECK(count, "impossible dims [", Join(dims, ","), "]");
  return *count;
}

Dims ContiguousStrides(const Dims& dims) {
  Dims strides(dims.size());
  // `step` is unsigned, because unsigned overflow is defined. It overflows only for dims that CheckedCount
  // rejects.
  uint64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(dims[i] ? dims[i] : 1);
  }
  return strides;
}

Tensor::Tensor(DType dtype, Dims dims) {
  auto count = CheckedCount(dims, dtype);
  if (!count) throw std::length_error("tensor too large");
  const auto n = static_cast<size_t>(*count);
  Buffer b = dtype == DType::kString ? Buffer::AllocateStrings(n) : Buffer::Allocate(BytesOf(dtype, n));
  *this = View(std::move(b), dtype, std::move(dims));
}

Tensor Tensor::View(Buffer buffer, DType dtype, Dims dims) {
  Dims strides = ContiguousStrides(dims);
  return View(std::move(buffer), dtype, std::move(dims), std::move(strides));
}

Tensor Tensor::View(Buffer buffer, DType dtype, Dims dims, Dims strides) {
  Tensor t;
  t.dtype_ = dtype;
  t.size_ = CountOf(dims);
  t.contiguous_ = true;
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0 && t.size_ > 0;) {
    if (dims[i] != 1 && strides[i] != step) t.contiguous_ = false;
    step *= dims[i];
  }
  t.dims_ = std::move(dims);
  t.strides_ = std::move(strides);
  t.buffer_ = std::move(buffer);
  TERN_CHECK(!t.contiguous_ || t.bytes() <= t.buffer_.size(), "tensor ", t.Describe(), " needs ", t.bytes(),
             " bytes, but the buffer has ", t.buffer_.size());
  TERN_CHECK(t.contiguous_ || BitWidth(dtype) >= 8 || dtype == DType::kString,
             "packed types cannot be strided");
  return t;
}

void Tensor::SetBuffer(Buffer buffer) {
  TERN_CHECK(contiguous_ && bytes() <= buffer.size(), "tensor ", Describe(), " needs ", bytes(),
             " contiguous bytes, but the buffer has ", buffer.size());
  buffer_ = std::move(buffer);
}

void Tensor::SetDim(int axis, int64_t length) {
  TERN_CHECK(contiguous_ && axis >= 0 && axis < rank() && length >= 0, "cannot set dim ", axis, " to ",
             length);
  dims_[static_cast<size_t>(axis)] = length;
  size_ = 1;
  for (size_t i = dims_.size(); i-- > 0;) {
    strides_[i] = size_;
    size_ *= dims_[i];
  }
}

Tensor Tensor::Reshaped(Dims dims) const {
  TERN_CHECK(contiguous_ && CountOf(dims) == size_, "reshape of ", Describe(), " to [", Join(dims, ","), "]");
  return View(buffer_, dtype_, std::move(dims));
}

// Calls f(offset) for each element in row-major order.
template <class F> static void EachOffset(const Dims& dims, const Dims& strides, int64_t count, F f) {
  Dims at(dims.size(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    f(offset);
    for (size_t d = dims.size(); d-- > 0;) {
      offset += strides[d];
      if (++at[d] < dims[d]) break;
      offset -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
}

Tensor Tensor::Contiguous() const { return contiguous_ ? *this : Clone(); }

Tensor Tensor::Clone() const {
  Tensor out(dtype_, dims_);
  if (size_ == 0) return out;
  if (dtype_ == DType::kString) {
    const auto* from = data<std::string>();
    auto* to = out.data<std::string>();
    EachOffset(dims_, strides_, size_, [&](int64_t offset) { *to++ = from[offset]; });
  } else if (contiguous_) {
    std::memcpy(out.raw(), raw(), bytes());
  } else {
    const size_t width = BitWidth(dtype_) / 8;
    auto* to = out.data<std::byte>();
    const auto* from = data<std::byte>();
    EachOffset(dims_, strides_, size_, [&](int64_t offset) {
      std::memcpy(to, from + offset * static_cast<int64_t>(width), width);
      to += width;
    });
  }
  return out;
}

std::string Describe(DType dtype, const Dims& dims) {
  return StrCat(DTypeName(dtype), "[", Join(dims, ","), "]");
}

std::string Tensor::Describe() const { return tern::Describe(dtype_, dims_); }

Tensor Tensor::Of(DType dtype, const Dims& dims, const std::vector<double>& values) {
  Tensor t(dtype, dims);
  FromDoubles(values, t);
  return t;
}

Tensor Tensor::Ints(const std::vector<int64_t>& values) {
  Tensor t(DType::kI64, {static_cast<int64_t>(values.size())});
  FromLongs(values, t);
  return t;
}

Tensor Tensor::Scalar(DType dtype, double value) { return Of(dtype, {}, {value}); }

Tensor Tensor::Strings(const Dims& dims, const std::vector<std::string>& values) {
  Tensor t(DType::kString, dims);
  FromStrings(values, t);
  return t;
}

bool SameTensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.dims() != b.dims()) return false;
  if (!a.defined() || a.size() == 0) return true;
  if (a.dtype() == DType::kString) return ToStrings(a) == ToStrings(b);
  const Tensor x = a.Contiguous(), y = b.Contiguous();
  return std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

}  // namespace tern
