#include "runtime/plan/plan.h"

namespace tern {
namespace {

bool Fits(const LinearDims& want, const Dims& dims, int64_t length) {
  if (want.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i)
    if (want[i].At(length) != dims[i]) return false;
  return true;
}

}  // namespace

bool Plan::Matches(const std::vector<BoundValue>& bound, int64_t length) const {
  if (varying_.max_length > 0 && length > varying_.max_length) return false;
  for (size_t i = 0; i < keys_.size(); ++i) {
    const BoundKey& key = keys_[i];
    const Datum& d = *bound[i].datum;
    if (d.kind != key.kind) return false;
    if (!d.is_tensor()) continue;
    if (d.tensor.dtype() != key.dtype) return false;
    if (key.varying.empty() ? d.tensor.dims() != key.dims : !Fits(key.varying, d.tensor.dims(), length))
      return false;
    if (key.known.defined() && !(bound[i].known && SameTensor(key.known, d.tensor))) return false;
  }
  return true;
}

size_t Plan::arena_bytes() const {
  size_t bytes = 0;
  for (const auto& [memory, size] : arenas_) bytes += size;
  return bytes;
}

}  // namespace tern
