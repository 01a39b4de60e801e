#include "ops/control/stack.h"

namespace tern {
namespace {

void CopyElements(const Tensor& from, int64_t at, Tensor& to, int64_t put, int64_t count) {
  if (from.dtype() == DType::kString) {
    for (int64_t i = 0; i < count; ++i) to.data<std::string>()[put + i] = from.data<std::string>()[at + i];
  } else if (BitWidth(from.dtype()) < 8) {
    for (int64_t i = 0; i < count; ++i) {
      if (IsFloat(from.dtype()))
        StoreDouble(to, put + i, LoadDouble(from, at + i));
      else
        StoreLong(to, put + i, LoadLong(from, at + i));
    }
  } else {
    const auto width = static_cast<size_t>(BitWidth(from.dtype()) / 8);
    std::memcpy(to.data<char>() + static_cast<size_t>(put) * width,
                from.data<char>() + static_cast<size_t>(at) * width, static_cast<size_t>(count) * width);
  }
}

int64_t InnerCount(const Dims& dims, int64_t axis) { return CountOf(Dims(dims.begin() + axis, dims.end())); }

// Returns a stack without slices. A dim that is unknown in `type` becomes 0.
Tensor EmptyStack(const Type& type, int64_t axis) {
  Dims dims;
  for (const Dim& d : type.shape.dims) dims.push_back(d.known() ? d.value() : 0);
  if (dims.empty()) dims.push_back(0);
  if (axis >= 0 && axis < static_cast<int64_t>(dims.size())) dims[static_cast<size_t>(axis)] = 0;
  return Tensor(type.dtype == DType::kInvalid ? DType::kF32 : type.dtype, dims);
}

// Returns how many bytes of memory a collected tensor uses, including its Datum and its strings.
size_t BytesHeld(const Tensor& t) {
  size_t bytes = sizeof(Datum) + t.bytes();
  if (t.dtype() == DType::kString)
    for (const std::string& s : ToStrings(t)) bytes += s.size();
  return bytes;
}

}  // namespace

Status Collector::Add(const DatumList& outputs) {
  ++iterations_;
  for (size_t i = 0; i < lists_.size(); ++i) {
    const Datum& slice = outputs[first_ + i];
    if (!slice.is_tensor())
      return InvalidModel("iteration ", iterations_ - 1, " gives ", slice.Describe(),
                          ", which cannot be stacked");
    bytes_ += BytesHeld(slice.tensor);
    if (bytes_ > limit_)
      return ResourceExhausted("the outputs collected in ", iterations_, " iterations hold ", bytes_,
                               " bytes, the limit is ", limit_, "; the option collect_limit changes it");
    lists_[i].push_back(slice);
  }
  return {};
}

Result<Tensor> StackSlices(const DatumList& slices, int64_t axis, const Type& empty) {
  if (slices.empty()) return EmptyStack(empty, axis);
  const Tensor first = slices.front().tensor;
  if (axis < 0 || axis > first.rank())
    return InvalidModel("axis ", axis, " is outside a stack of rank-", first.rank(), " slices");
  Dims dims = first.dims();
  const auto n = static_cast<int64_t>(slices.size());
  const int64_t inner = InnerCount(dims, axis);
  const int64_t outer = inner ? first.size() / inner : 0;
  dims.insert(dims.begin() + axis, n);
  Tensor out(first.dtype(), dims);
  for (int64_t s = 0; s < n; ++s) {
    const Tensor slice = slices[static_cast<size_t>(s)].tensor.Contiguous();
    if (slice.dims() != first.dims() || slice.dtype() != first.dtype())
      return InvalidModel("iteration ", s, " gives ", slice.Describe(), ", but the first gave ",
                          first.Describe());
    for (int64_t o = 0; o < outer; ++o) CopyElements(slice, o * inner, out, (o * n + s) * inner, inner);
  }
  return out;
}

Tensor TakeSlice(const Tensor& x, int axis, int64_t index) {
  Dims dims = x.dims();
  const int64_t length = dims[static_cast<size_t>(axis)];
  const int64_t inner = InnerCount(dims, axis + 1);
  dims.erase(dims.begin() + axis);
  Tensor out(x.dtype(), dims);
  const int64_t outer = inner ? out.size() / inner : 0;
  for (int64_t o = 0; o < outer; ++o) CopyElements(x, (o * length + index) * inner, out, o * inner, inner);
  return out;
}

}  // namespace tern
