// Reads tensors of the public API as other types, if the conversion is exact.
#include <algorithm>

#include "bindings/cpp/api.h"

namespace tern::v1 {
namespace {

// Returns the mantissa bits of f32 or f64, including the implicit bit; 0 for other types.
int Mantissa(tern::DType t) { return t == tern::DType::kF32 ? 24 : t == tern::DType::kF64 ? 53 : 0; }

// Returns whether type `to` represents every value of type `from` exactly. `to` must have a C++ type, see
// kTypeOf.
bool HoldsAll(tern::DType to, tern::DType from) {
  if (to == from) return true;
  if (tern::IsComplex(from) || from == tern::DType::kString || from == tern::DType::kInvalid) return false;
  if (tern::IsFloat(from)) return Mantissa(to) && tern::BitWidth(to) > tern::BitWidth(from);
  const bool is_signed = tern::IsSignedInt(from), is_bool = from == tern::DType::kBool;
  const int bits = is_bool ? 1 : tern::BitWidth(from) - is_signed;  // bits of the magnitude
  if (Mantissa(to)) return bits <= Mantissa(to);
  if (tern::IsSignedInt(to)) return bits < tern::BitWidth(to);
  return tern::IsUnsignedInt(to) && !is_signed && bits <= tern::BitWidth(to);
}

// Fails if `t` is null or if `as` does not represent its elements exactly. Messages begin with `who`, such as
// "output 'y'". If `t` is null, the message is `who` followed by `no_tensor`.
Status CheckElements(const tern::Tensor* t, const std::string& who, const std::string& no_tensor, DType as) {
  const auto fail = [&](const std::string& why) { return Status(Code::kInvalidArgument, StrCat(who, why)); };
  const auto wanted = static_cast<tern::DType>(as);
  if (!t) return fail(no_tensor);
  if (wanted == tern::DType::kInvalid)
    return fail(StrCat(" is ", t->Describe(), ", requested as a C++ type that is not an element type"));
  if (!HoldsAll(wanted, t->dtype()))
    return fail(StrCat(" is ", t->Describe(), "; ", tern::DTypeName(wanted), " does not represent every ",
                       tern::DTypeName(t->dtype())));
  return {};
}

void ReadElements(const tern::Tensor& tensor, void* out, DType as) {
  const tern::Tensor from = tensor.Contiguous();
  const auto wanted = static_cast<tern::DType>(as);
  const auto count = static_cast<size_t>(from.size());
  if (wanted == tern::DType::kString) {
    std::copy_n(from.data<std::string>(), count, static_cast<std::string*>(out));
    return;
  }
  tern::Tensor to = tern::Tensor::View(tern::Buffer::Borrow(out, tern::BytesOf(wanted, count), nullptr),
                                       wanted, from.dims());
  for (int64_t i = 0; i < from.size(); ++i)
    if (tern::IsFloat(wanted))
      tern::StoreDouble(to, i, tern::LoadDouble(from, i));
    else
      tern::StoreLong(to, i, tern::LoadLong(from, i));
}

}  // namespace

Status Tensor::CheckRead(DType as) const {
  if (!impl_->status.ok()) return impl_->status;
  const tern::Type& type = impl_->declared->type;
  const std::string no_tensor = impl_->Held() || !type.tensor()
                                    ? StrCat(" is ", type.ToString(), ", not a tensor")
                                : impl_->is_input ? " has no elements yet: it was not fed"
                                                  : " has no elements yet: no run has computed it";
  impl_->read_status = CheckElements(
      impl_->Get(), StrCat(impl_->is_input ? "input '" : "output '", impl_->declared->name, "'"), no_tensor,
      as);
  return impl_->read_status;
}

void Tensor::Read(void* out, DType as) const { ReadElements(*impl_->Get(), out, as); }

Status Value::CheckRead(DType as) const {
  const auto* datum = static_cast<const tern::Datum*>(datum_.get());
  return CheckElements(datum && datum->is_tensor() ? &datum->tensor : nullptr, "the value",
                       StrCat(" is ", type(), ", not a tensor"), as);
}

Status Value::CheckEntries(DType key, DType as) const {
  const auto fail = [&](const std::string& why) {
    return Status(Code::kInvalidArgument, StrCat("the value is ", type(), why));
  };
  if (kind() != Kind::kMap) return fail(", not a map");
  if (key == DType::kInvalid || key != key_type())
    return fail(StrCat("; its keys are ", tern::DTypeName(static_cast<tern::DType>(key_type())), ", not ",
                       key == DType::kInvalid ? "of the requested C++ type"
                                              : tern::DTypeName(static_cast<tern::DType>(key))));
  for (size_t i = 0; i < size(); ++i) {
    const Value value = At(i);
    if (Status status = value.CheckRead(as); !status.ok())
      return Status(status.code(), StrCat("entry ", i, " of the map: ", status.message()));
    if (value.size() != 1)
      return fail(
          StrCat("; entry ", i, " has ", value.size(), " elements, but a value of std::map is one element"));
  }
  return {};
}

void Value::Read(void* out, DType as) const {
  ReadElements(static_cast<const tern::Datum*>(datum_.get())->tensor, out, as);
}

}  // namespace tern::v1
