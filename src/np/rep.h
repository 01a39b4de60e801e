// The implementation of np::Array, and what the sources of this module share. Functions of this module throw
// Failure. Make converts the exception to an array with an error, because no exception may leave the library.
#pragma once
#define TERN_BUILDING_API
#include "tern/np.hpp"

#include "base/thread_pool.h"
#include "core/tensor.h"

namespace tern::v1::np {

using Store = tern::Tensor;  // always contiguous here
using Type = tern::DType;

struct Array::Rep {
  Store tensor;
  Status status;      // the error, if the array stands for one
  bool weak = false;  // a C++ number; its type adapts to the other operand
};

struct Failure {
  Status status;
};
template <class... A> [[noreturn]] void Fail(const A&... a) {
  throw Failure{Status(Code::kInvalidArgument, tern::StrCat(a...))};
}

struct Access {
  static Array Of(Store tensor, bool weak = false);
  static Array Error(Status status);
  static bool Weak(const Array& a) { return a.rep_->weak; }
  static const Store& Tensor(const Array& a) { return a.rep_->tensor; }
};
// Returns the tensor of an array. Throws Failure if the array stands for an error.
const Store& In(const Array& a);

Status CaughtStatus();  // the exception that is being handled
// Calls a function that returns a Store, and returns its array. Returns an array with an error if the
// function throws.
template <class F> Array Make(const F& body) {
  try {
    return Access::Of(body());
  } catch (...) {
    return Access::Error(CaughtStatus());
  }
}

inline const tern::Workers& Pool() {
  static const tern::Workers workers;
  return workers;
}

// Returns a tensor whose elements are not initialised. Fails if `dims` is not a possible shape.
Store New(Type type, const Dims& dims);
Store NewZeros(Type type, const Dims& dims);
void CheckType(Type type);  // fails if no array can have this type
int Width(Type type);       // bytes of an element

// Types.
Type Promoted(Type a, Type b);
Type PromotedOf(const Array& a, const Array& b);  // with the rule for numbers without a type
Type FloatOf(Type type);                          // the type of functions such as exp
Type SumOf(Type type);                            // the type of sums: i64 for integers and bool
bool IsFloating(Type type);
Store Converted(const Store& x, Type type);
Store ConvertedFor(const Array& a, Type type);  // checks that a number without a type fits

// Axes and shapes.
int64_t Normal(int64_t axis, int64_t rank);  // in [0, rank); fails if it is outside
std::vector<bool> Mask(const Axis& axis, int64_t rank);
Dims Without(const Dims& dims, const std::vector<bool>& mask, bool keepdims);
Dims BroadcastOf(const Dims& a, const Dims& b);
Store BroadcastTo(const Store& x, const Dims& dims);
Store Reshaped(const Store& x, const Dims& dims);  // one dim may be -1
Store Permuted(const Store& x, const Dims& axes);  // axis i of the result is axis axes[i]
struct Along {
  int64_t outer = 1, length = 1, inner = 1;
};
Along AlongAxis(const Dims& dims, int64_t axis);

// Calls f(x) with a typed null pointer that shows the element type.
template <class F> decltype(auto) Visit(Type type, const F& f) {
  switch (type) {
    case Type::kF32:
      return f(static_cast<float*>(nullptr));
    case Type::kF64:
      return f(static_cast<double*>(nullptr));
    case Type::kI32:
      return f(static_cast<int32_t*>(nullptr));
    case Type::kI64:
      return f(static_cast<int64_t*>(nullptr));
    case Type::kU8:
      return f(static_cast<uint8_t*>(nullptr));
    default:
      return f(static_cast<bool*>(nullptr));
  }
}
// Calls f(x) with a typed null pointer that shows only the size of an element. For functions that only move
// elements.
template <class F> decltype(auto) VisitWidth(Type type, const F& f) {
  switch (Width(type)) {
    case 1:
      return f(static_cast<uint8_t*>(nullptr));
    case 4:
      return f(static_cast<uint32_t*>(nullptr));
    default:
      return f(static_cast<uint64_t*>(nullptr));
  }
}

}  // namespace tern::v1::np
