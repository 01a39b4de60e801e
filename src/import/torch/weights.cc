#include "import/torch/weights.h"

#include <cstring>

namespace tern::torch {
namespace {

// Returns one past the largest index of an element, or nullopt if an index is negative or overflows.
std::optional<uint64_t> ExtentOf(const Dims& dims, const Dims& strides, int64_t offset) {
  uint64_t last = 0;
  if (offset < 0 || __builtin_add_overflow(uint64_t{0}, static_cast<uint64_t>(offset), &last))
    return std::nullopt;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) return 0;
    uint64_t step = 0;
    if (strides[i] < 0 ||
        __builtin_mul_overflow(static_cast<uint64_t>(dims[i] - 1), static_cast<uint64_t>(strides[i]),
                               &step) ||
        __builtin_add_overflow(last, step, &last))
      return std::nullopt;
  }
  if (__builtin_add_overflow(last, uint64_t{1}, &last)) return std::nullopt;
  return last;
}

bool RowMajor(const Dims& dims, const Dims& strides) {
  int64_t expected = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    expected *= dims[i];
  }
  return true;
}

// Copies elements of `width` bytes in row-major order.
void CopyStrided(const std::byte* from, std::byte* to, const Dims& dims, const Dims& strides, size_t width) {
  Dims at(dims.size(), 0);
  const int64_t inner = dims.empty() ? 1 : dims.back(), inner_stride = dims.empty() ? 1 : strides.back();
  int64_t position = 0;
  while (true) {
    for (int64_t i = 0; i < inner; ++i, to += width)
      std::memcpy(to, from + static_cast<size_t>(position + i * inner_stride) * width, width);
    size_t axis = dims.size() < 2 ? 0 : dims.size() - 1;
    for (; axis-- > 0;) {
      position += strides[axis];
      if (++at[axis] < dims[axis]) break;
      position -= strides[axis] * dims[axis];
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

}  // namespace

Result<Tensor> TensorOfStorage(const Buffer& storage, DType dtype, const Dims& dims, const Dims& strides,
                               int64_t offset) {
  const auto count = CheckedCount(dims, dtype);
  if (!count || dims.size() != strides.size() || dims.size() > 64)
    return InvalidModel("a tensor has the impossible dims [", Join(dims, ", "), "] with ", strides.size(),
                        " strides");
  const auto extent = ExtentOf(dims, strides, offset);
  const size_t width = BytesOf(dtype, 1);
  if (!extent || *extent > storage.size() / width)
    return InvalidModel("a tensor ", Describe(dtype, dims), " with strides [", Join(strides, ", "),
                        "] and offset ", offset, " does not fit into its storage of ", storage.size(),
                        " bytes");
  if (*count == 0) return Tensor(dtype, dims);
  const auto start = static_cast<size_t>(offset) * width;
  const bool aligned = reinterpret_cast<uintptr_t>(storage.data() + start) % width == 0;
  if (RowMajor(dims, strides) && aligned)
    return Tensor::View(storage.Slice(start, static_cast<size_t>(*count) * width), dtype, dims);
  // A few stored elements may be expanded to a large tensor, so the size is limited.
  constexpr int64_t kMaxExpanded = int64_t{1} << 24, kMaxRatio = 16;
  const auto stored = static_cast<int64_t>(storage.size() / width);
  if (*count > kMaxExpanded && *count / kMaxRatio > stored)
    return Unsupported("a tensor ", Describe(dtype, dims), " of a storage with ", stored, " elements");
  Tensor copy(dtype, dims);
  CopyStrided(storage.data() + start, copy.data<std::byte>(), dims, strides, width);
  return copy;
}

}  // namespace tern::torch
