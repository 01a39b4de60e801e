#include "runtime/plan/plan.h"

namespace tern {

bool Plan::Matches(const std::vector<BoundValue>& bound) const {
  for (size_t i = 0; i < keys_.size(); ++i) {
    const BoundKey& key = keys_[i];
    const Datum& d = *bound[i].datum;
    if (d.kind != key.kind) return false;
    if (!d.is_tensor()) continue;
    if (d.tensor.dtype() != key.dtype || d.tensor.dims() != key.dims) return false;
    if (key.known.defined() && !(bound[i].known && SameTensor(key.known, d.tensor))) return false;
  }
  return true;
}

}  // namespace tern
