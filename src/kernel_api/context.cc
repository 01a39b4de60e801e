#include "kernel_api/context.h"

#include <algorithm>

#include "core/mapped_files.h"
#include "core/page_heap.h"

namespace tern {

bool KernelQuery::AllTypes(DType t) const {
  auto fits = [&](const TensorInfo& info) { return info.dtype == t || info.dtype == DType::kInvalid; };
  return std::all_of(inputs.begin(), inputs.end(), fits) && std::all_of(outputs.begin(), outputs.end(), fits);
}

void PrepareContext::Finished(int i) {
  const Tensor* t = Weight(i);
  if (!t) return;
  DropMappedPages(t->raw(), t->bytes());
  finished_.push_back(i);
}

Result<Tensor> PrepareContext::Packed(const std::vector<int>& inputs, DType dtype, const Dims& dims,
                                      const std::function<void(Tensor& to)>& fill) {
  Tensor packed;
  if (store_) {
    TERN_ASSIGN(packed, store_->Find(inputs));
  }
  if (!packed.defined() || packed.dtype() != dtype || packed.dims() != dims) {
    for (int i : inputs)
      if (const Tensor* t = Weight(i); t && t->bytes() > 0 && !t->raw())
        return Status(Code::kInternal, StrCat("weight ", i, " was released before it was packed"));
    packed = AllocateWeights(dtype, dims);
    fill(packed);
  }
  for (int i : inputs) Finished(i);
  if (store_) store_->Put(inputs, packed);  // may release the weights
  return packed;
}

Tensor PrepareContext::AllocateWeights(DType dtype, const Dims& dims) {
  const auto count = CheckedCount(dims, dtype);
  TERN_CHECK(count, "impossible size of packed weights ", Describe(dtype, dims));
  const size_t bytes = BytesOf(dtype, static_cast<size_t>(*count));
  const Tensor t = Tensor::View(AllocateLongLived(bytes), dtype, dims);
  packed_bytes_ += t.bytes();
  return t;
}

}  // namespace tern
