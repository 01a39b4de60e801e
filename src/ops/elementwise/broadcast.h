// Iterates over broadcast operands (numpy rules), for reference evaluators.
#pragma once
#include <cstring>
#include <vector>

#include "core/tensor.h"
#include "ir/infer_context.h"

namespace tern {

// Visits the elements of a result with dims `out` in row-major order. `in` has the dims of an operand. Next
// returns the row-major index of the operand's element that the current result element reads, and advances to
// the next result element.
class BroadcastWalk {
 public:
  BroadcastWalk(const Dims& in, const Dims& out) : dims_(out), strides_(out.size(), 0), at_(out.size(), 0) {
    const Dims packed = ContiguousStrides(in);
    const size_t lead = out.size() - in.size();
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i] != 1) strides_[lead + i] = packed[i];
  }

  int64_t Next() {
    const int64_t here = offset_;
    for (size_t i = dims_.size(); i-- > 0;) {
      offset_ += strides_[i];
      if (++at_[i] < dims_[i]) break;
      offset_ -= at_[i] * strides_[i];
      at_[i] = 0;
    }
    return here;
  }

 private:
  Dims dims_, strides_, at_;
  int64_t offset_ = 0;
};

inline Result<Dims> BroadcastDims(const Dims& a, const Dims& b) {
  TERN_ASSIGN(const Shape shape, BroadcastShapes(Shape::Of(a), Shape::Of(b)));
  return shape.Concrete();
}

// Copies element i of `from` to element j of `to`. Both tensors must be contiguous and of the same type.
inline void CopyElement(const Tensor& from, int64_t i, Tensor& to, int64_t j) {
  const int bits = BitWidth(from.dtype());
  if (from.dtype() == DType::kString) {
    to.data<std::string>()[j] = from.data<std::string>()[i];
  } else if (bits < 8) {
    if (IsFloat(from.dtype()))
      StoreDouble(to, j, LoadDouble(from, i));
    else
      StoreLong(to, j, LoadLong(from, i));
  } else {
    const auto bytes = static_cast<size_t>(bits / 8);
    std::memcpy(to.data<char>() + static_cast<size_t>(j) * bytes,
                from.data<char>() + static_cast<size_t>(i) * bytes, bytes);
  }
}

}  // namespace tern
