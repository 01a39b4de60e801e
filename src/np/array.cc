#include <cmath>
#include <cstring>

#include "np/rep.h"

namespace tern::v1::np {
namespace {

void AppendElement(const Store& x, int64_t i, std::string& out) {
  Visit(x.dtype(), [&](auto* p) {
    using E = std::remove_pointer_t<decltype(p)>;
    tern::AppendText(out, x.data<E>()[i]);
  });
}

// Appends the elements from `axis` on as nested lists. `at` is the index of the next element.
void AppendNested(const Store& x, size_t axis, int64_t& at, std::string& out) {
  if (axis == x.dims().size()) return AppendElement(x, at++, out);
  out += "[";
  for (int64_t i = 0; i < x.dims()[axis]; ++i) {
    if (i > 0) out += ", ";
    AppendNested(x, axis + 1, at, out);
  }
  out += "]";
}

}  // namespace

Array::Array() : Array(Access::Of(Store(Type::kF64, {0}))) {}

Array::Array(DType dtype, double value, int64_t integer)
    : Array(Make([&] {
        Store x = New(static_cast<Type>(dtype), {});
        if (dtype == DType::kF64)
          *x.data<double>() = value;
        else if (dtype == DType::kI64)
          *x.data<int64_t>() = integer;
        else
          *x.data<bool>() = integer != 0;
        return x;
      })) {
  if (ok()) *this = Access::Of(Access::Tensor(*this), true);
}

const Status& Array::status() const { return rep_->status; }
DType Array::dtype() const { return static_cast<DType>(rep_->tensor.dtype()); }
const Shape& Array::shape() const { return rep_->tensor.dims(); }
int64_t Array::size() const { return rep_->tensor.size(); }
const void* Array::raw() const { return rep_->tensor.raw(); }

double Array::ItemDouble() const { return ok() && size() == 1 ? tern::LoadDouble(rep_->tensor, 0) : 0; }
int64_t Array::ItemLong() const {
  if (!ok() || size() != 1) return 0;
  if (IsFloating(rep_->tensor.dtype())) {
    const double value = ItemDouble();
    if (!(value > -0x1p63)) return std::isnan(value) ? 0 : INT64_MIN;
    return value < 0x1p63 ? static_cast<int64_t>(value) : INT64_MAX;
  }
  return tern::LoadLong(rep_->tensor, 0);
}

std::string Array::str() const {
  if (!ok()) return "error: " + status().message();
  constexpr int64_t kMost = 1000;
  std::string out = rep_->tensor.Describe() + " ";
  if (size() > kMost) return out + "...";
  int64_t at = 0;
  AppendNested(rep_->tensor, 0, at, out);
  return out;
}

Array Array::astype(DType dtype) const {
  return Make([&] { return Converted(In(*this), static_cast<Type>(dtype)); });
}
Array Array::reshape(const Shape& shape) const { return np::reshape(*this, shape); }
Array Array::T() const { return transpose(*this); }

namespace internal {

Array FromElements(const void* data, size_t count, DType dtype, const Shape* shape) {
  return Make([&] {
    const Type type = static_cast<Type>(dtype);
    CheckType(type);
    Store x = New(type, shape ? *shape : Dims{static_cast<int64_t>(count)});
    if (static_cast<size_t>(x.size()) != count) Fail(count, " elements do not fill ", x.Describe());
    if (count > 0) std::memcpy(x.raw(), data, x.bytes());
    return x;
  });
}

Array FromBits(const std::vector<bool>& data, const Shape* shape) {
  return Make([&] {
    Store x = New(Type::kBool, shape ? *shape : Dims{static_cast<int64_t>(data.size())});
    if (static_cast<size_t>(x.size()) != data.size())
      Fail(data.size(), " elements do not fill ", x.Describe());
    for (size_t i = 0; i < data.size(); ++i) x.data<bool>()[i] = data[i];
    return x;
  });
}

}  // namespace internal

}  // namespace tern::v1::np
