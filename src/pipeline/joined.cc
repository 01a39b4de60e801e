#include "pipeline/joined.h"

#include <algorithm>
#include <cstring>

namespace tern::pipeline {

bool SameRows(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.rank() > 0 && a.rank() == b.rank() &&
         std::equal(a.dims().begin() + 1, a.dims().end(), b.dims().begin() + 1);
}

Tensor Joined(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return parts[0];
  Dims dims = parts[0].dims();
  dims[0] = 0;
  for (const Tensor& part : parts) {
    TERN_CHECK(SameRows(parts[0], part), "rows of different types are joined");
    dims[0] += part.dim(0);
  }
  if (parts[0].dtype() == DType::kString) {
    std::vector<std::string> texts;
    for (const Tensor& part : parts)
      for (std::string& text : ToStrings(part)) texts.push_back(std::move(text));
    return Tensor::Strings(dims, texts);
  }
  Tensor out(parts[0].dtype(), dims);
  auto* to = static_cast<std::byte*>(out.raw());
  for (const Tensor& part : parts) {
    const Tensor from = part.Contiguous();
    if (from.bytes()) std::memcpy(to, from.raw(), from.bytes());
    to += from.bytes();
  }
  return out;
}

Tensor RowsOf(const Tensor& tensor, int64_t first, int64_t count) {
  const Tensor from = tensor.Contiguous();
  Dims dims = from.dims();
  const int64_t row = dims[0] ? from.size() / dims[0] : 0;
  dims[0] = count;
  if (from.dtype() == DType::kString) {
    const std::vector<std::string> texts = ToStrings(from);
    return Tensor::Strings(dims, {texts.begin() + first * row, texts.begin() + (first + count) * row});
  }
  Tensor out(from.dtype(), dims);
  const size_t bytes = BytesOf(from.dtype(), static_cast<size_t>(row));
  if (out.bytes())
    std::memcpy(out.raw(), static_cast<const std::byte*>(from.raw()) + static_cast<size_t>(first) * bytes,
                out.bytes());
  return out;
}

}  // namespace tern::pipeline
