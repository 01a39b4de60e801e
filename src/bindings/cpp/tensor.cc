// Tensor: a handle to one of a predictor's inputs, outputs or overridable constants.
#include <algorithm>
#include <cstring>

#include "bindings/cpp/api.h"
#include "runtime/memory/owned.h"

namespace tern::v1 {
namespace {

// Returns a hint for error messages if the shape contains -1, as shape() does for open dims.
const char* NeedsDims(const Shape& shape) {
  const bool open = std::any_of(shape.begin(), shape.end(), [](int64_t d) { return d < 0; });
  return open ? "; every dim must be given, -1 is not inferred" : "";
}

const char* Role(bool is_input) { return is_input ? "input" : "output"; }

}  // namespace

const tern::Datum* Tensor::Impl::Held() const {
  if (!state) return nullptr;
  if (is_input) return fed() ? &value : nullptr;
  if (!state->has_run || changed) return nullptr;
  return fed() ? &value : &state->active().Output(index);
}

const tern::Tensor* Tensor::Impl::Get() const {
  const tern::Datum* held = Held();
  return held && held->is_tensor() ? &held->tensor : nullptr;
}

const Status& Tensor::status() const { return impl_->status.ok() ? impl_->read_status : impl_->status; }
const std::string& Tensor::name() const {
  static const std::string none;
  return impl_->declared ? impl_->declared->name : none;
}

DType Tensor::dtype() const {
  if (const tern::Tensor* t = impl_->Get()) return static_cast<DType>(t->dtype());
  return impl_->declared && impl_->declared->type.tensor() ? static_cast<DType>(impl_->declared->type.dtype)
                                                           : DType::kInvalid;
}

Shape Tensor::shape() const {
  if (const tern::Tensor* t = impl_->Get()) return t->dims();
  Shape shape;
  for (const DeclaredDim& dim : declared_dims()) shape.push_back(dim.value);
  return shape;
}

size_t Tensor::size() const {
  const tern::Tensor* t = impl_->Get();
  return t ? static_cast<size_t>(t->size()) : 0;
}

size_t Tensor::bytes() const {
  const tern::Tensor* t = impl_->Get();
  return t ? t->bytes() : 0;
}

std::string Tensor::declared_type() const {
  return impl_->declared ? impl_->declared->type.ToString() : std::string();
}

int Tensor::declared_rank() const {
  const bool tensor = impl_->declared && impl_->declared->type.tensor();
  return tensor ? impl_->declared->type.shape.rank() : -1;
}

std::vector<DeclaredDim> Tensor::declared_dims() const {
  std::vector<DeclaredDim> dims;
  if (declared_rank() < 0) return dims;
  for (const tern::Dim& d : impl_->declared->type.shape.dims)
    dims.push_back({d.known() ? d.value() : -1, d.symbolic() ? d.ToString() : std::string()});
  return dims;
}

void* Tensor::raw() {
  const tern::Tensor* t = impl_->memory == Impl::Memory::kValue ? nullptr : impl_->Get();
  return t ? t->raw() : nullptr;
}

const void* Tensor::raw() const { return const_cast<Tensor*>(this)->raw(); }

Value Tensor::value() const {
  std::shared_ptr<const void> copy;
  (void)Protect([&]() -> tern::Status {
    const tern::Value* declared = impl_->declared;
    if (const tern::Datum* held = impl_->Held())
      copy = std::make_shared<const tern::Datum>(impl_->memory == Impl::Memory::kValue ? *held
                                                                                       : tern::Copied(*held));
    else if (impl_->is_input && declared && declared->constant.raw())
      copy = std::make_shared<const tern::Datum>(declared->constant.Clone());
    return {};
  });
  return Value(std::move(copy));
}

tern::Status Tensor::Impl::CheckTensorInput() const {
  if (!is_input) return tern::InvalidArgument("output '", declared->name, "' cannot be fed");
  if (declared->type.tensor() && declared->type.dtype != tern::DType::kInvalid) return {};
  return tern::Unsupported("input '", declared->name, "' is ", declared->type.ToString(),
                           ", not a tensor; feed it with Set");
}

tern::Status Tensor::Impl::Resize(const Shape& shape) {
  if (value.is_tensor() && value.tensor.dims() == shape && memory == Memory::kOwn) return {};
  const tern::DType dtype = declared->type.dtype;
  if (!tern::CheckedCount(shape, dtype))
    return tern::InvalidArgument("input '", declared->name, "': impossible shape [", tern::Join(shape, ","),
                                 "]", NeedsDims(shape));
  const auto allocate = [&]() -> tern::Status {
    value = tern::Tensor(dtype, shape);
    changed = true;
    memory = Memory::kOwn;
    return {};
  };
  return tern::Guard(allocate).While(
      tern::StrCat("allocating input '", declared->name, "' for ", tern::Describe(dtype, shape)));
}

tern::Status Tensor::Impl::Copy(const void* data, size_t count, tern::DType type, const Shape* shape) {
  const tern::Value& input = *declared;
  const auto wrong = [&](const auto&... what) {
    return tern::InvalidArgument("input '", input.name, "' is ", input.type.ToString(), ", got ", what...);
  };
  if (!data && count) return wrong(count, " elements at a null pointer");
  if (type != input.type.dtype) return wrong("elements of type ", tern::DTypeName(type));
  if (!shape && !value.is_tensor() && input.type.shape.fully_known())
    TERN_TRY(Resize(input.type.shape.Concrete()));
  if (!shape && !value.is_tensor()) return wrong(count, " elements and no shape; call Reshape first");
  const Shape& dims = shape ? *shape : value.tensor.dims();
  const auto wanted = tern::CheckedCount(dims, input.type.dtype);
  if (!wanted || static_cast<size_t>(*wanted) != count)
    return wrong(count, " elements for the shape [", tern::Join(dims, ","), "]", NeedsDims(dims));
  TERN_TRY(Resize(dims));
  const tern::Tensor& to = value.tensor;
  if (to.dtype() == tern::DType::kString)
    std::copy_n(static_cast<const std::string*>(data), count, to.data<std::string>());
  else if (count)
    std::memcpy(to.raw(), data, to.bytes());
  return {};
}

tern::Status Tensor::Impl::Borrow(void* data, size_t bytes, const Shape& shape, const char* what) {
  const tern::DType dtype = declared->type.dtype;
  const auto count = tern::CheckedCount(shape, dtype);
  if (dtype == tern::DType::kString || !count || tern::BytesOf(dtype, static_cast<size_t>(*count)) != bytes)
    return tern::InvalidArgument(Role(is_input), " '", declared->name, "': ", bytes, " bytes cannot be ",
                                 what, " as ", tern::DTypeName(dtype), "[", tern::Join(shape, ","), "]",
                                 NeedsDims(shape));
  if (!data && bytes)
    return tern::InvalidArgument(Role(is_input), " '", declared->name, "': ", bytes,
                                 " bytes at a null pointer");
  value = tern::Tensor::View(tern::Buffer::Borrow(data, bytes, nullptr), dtype, shape);
  changed = true;
  memory = Memory::kCaller;
  return {};
}

tern::Status Tensor::Impl::Bind(void* data, size_t bytes, const Shape& shape) {
  if (is_input)
    return tern::InvalidArgument("input '", declared->name, "' cannot be bound as an output; Share feeds it");
  const tern::DType dtype = declared->type.dtype;
  if (!declared->type.tensor() || dtype == tern::DType::kInvalid)
    return tern::Unsupported("output '", declared->name, "' is ", declared->type.ToString(),
                             ", not a tensor: it has no memory to bind");
  const size_t element = std::max<size_t>(1, tern::BytesOf(dtype, 1));
  if (reinterpret_cast<uintptr_t>(data) % element)
    return tern::InvalidArgument("output '", declared->name, "': the memory is not aligned to ", element,
                                 " bytes, the size of an element of type ", tern::DTypeName(dtype));
  return Borrow(data, bytes, shape, "bound");
}

template <class F> Status Tensor::Change(F&& body) {
  if (!impl_->status.ok()) return impl_->status;
  return Protect([&]() -> tern::Status {
    const Predictor::State::Hold hold(*impl_->state);
    TERN_TRY(hold.status());
    return body(*impl_);
  });
}

Status Tensor::Reshape(const Shape& shape) {
  return Change([&](Impl& impl) -> tern::Status {
    TERN_TRY(impl.CheckTensorInput());
    return impl.Resize(shape);
  });
}

Status Tensor::Copy(const void* data, size_t count, DType type, const Shape* shape) {
  return Change([&](Impl& impl) -> tern::Status {
    TERN_TRY(impl.CheckTensorInput());
    return impl.Copy(data, count, static_cast<tern::DType>(type), shape);
  });
}

Status Tensor::CopyBits(const std::vector<bool>& data, const Shape* shape) {
  std::unique_ptr<bool[]> flat;
  const Status made = Protect([&]() -> tern::Status {
    flat = std::make_unique<bool[]>(data.size());
    std::copy(data.begin(), data.end(), flat.get());
    return {};
  });
  return made.ok() ? Copy(flat.get(), data.size(), DType::kBool, shape) : made;
}

Status Tensor::Share(void* data, size_t bytes, const Shape& shape) {
  return Change([&](Impl& impl) -> tern::Status {
    TERN_TRY(impl.CheckTensorInput());
    return impl.Borrow(data, bytes, shape, "shared");
  });
}

Status Tensor::Set(const Value& value) {
  return Change([&](Impl& impl) -> tern::Status {
    if (!impl.is_input) return tern::InvalidArgument("output '", impl.declared->name, "' cannot be fed");
    if (value.empty())
      return tern::InvalidArgument("input '", impl.declared->name, "' is given an empty value");
    impl.value = *static_cast<const tern::Datum*>(value.datum_.get());
    impl.changed = true;
    impl.memory = Impl::Memory::kValue;
    return {};
  });
}

Status Tensor::Reset() {
  return Change([](Impl& impl) -> tern::Status {
    impl.value = tern::Datum();
    impl.changed = true;
    impl.memory = Impl::Memory::kOwn;
    return {};
  });
}

Status Tensor::Bind(void* data, size_t bytes, const Shape& shape) {
  return Change([&](Impl& impl) { return impl.Bind(data, bytes, shape); });
}

}  // namespace tern::v1
