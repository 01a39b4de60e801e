// Copies the elements of tensors between the caller's arrays and the library, for ports and values.
#pragma once
#include <cstring>

#include "bindings/c/handles.h"

namespace tern::v1 {

// Gives the C API access to private functions of the C++ API.
struct Access {
  static const tern::Tensor* Get(const Tensor& t) { return t.impl_->Get(); }
  static const tern::Value* Declared(const Tensor& t) { return t.impl_->declared; }
  // Returns whether value() returns a value if there is enough memory.
  static bool HasValue(const Tensor& t) {
    return t.impl_->Held() || (t.impl_->is_input && t.impl_->declared->constant.raw());
  }
  static const tern::Tensor* Get(const Value& v) {
    const tern::Datum* datum = DatumOf(v);
    return datum && datum->is_tensor() ? &datum->tensor : nullptr;
  }
  static const tern::Datum* DatumOf(const Value& v) {
    return static_cast<const tern::Datum*>(v.datum_.get());
  }
  static const void* Keys(const Value& v) { return v.raw_keys(); }
  template <class T> static Status CheckRead(const T& from, DType as) { return from.CheckRead(as); }
  template <class T> static void Read(const T& from, void* out, DType as) { from.Read(out, as); }
  static Status Copy(Tensor& to, const void* data, size_t count, DType type, const Shape& shape) {
    return to.Copy(data, count, type, &shape);
  }
  static Result<Value> MakeTensor(const void* data, size_t count, DType type, const Shape& shape) {
    return Value::MakeTensor(data, count, type, shape);
  }
};

}  // namespace tern::v1

namespace tern::c {

// The elements of a tensor in the caller's memory.
struct Elements {
  TernDType dtype;
  const void* data;
  size_t bytes;
  const int64_t* dims;
  size_t rank;
};

// The same elements after their check.
struct Checked {
  v1::DType dtype = v1::DType::kInvalid;
  const void* data = nullptr;
  size_t count = 0;
  v1::Shape shape;
  std::vector<uint8_t> flags;  // owns `data` if bytes of a bool had to be changed to 1
};

v1::Status CheckShape(const int64_t* dims, size_t rank, v1::Shape& shape);
// Fails unless the type is known and no string, the pointers are valid, and the bytes match the dims.
v1::Status Check(const Elements& elements, Checked& checked);
// Changes bytes of a bool that are neither 0 nor 1 to 1, in a copy.
void NormaliseFlags(Checked& checked);
// Copies strings of the caller. If `lengths` is null, each string ends at its first NUL.
v1::Status CopyStrings(const char* const* strings, const size_t* lengths, size_t count,
                       std::vector<std::string>& out);

// Returns the rank, and copies at most `capacity` dims.
size_t CopyDims(const v1::Shape& shape, int64_t* dims, size_t capacity);
// Returns a string of a tensor, or null. `tensor` and `length` may be null.
const char* StringAt(const tern::Tensor* tensor, size_t index, size_t* length);
const char* StringAt(const std::string* strings, size_t count, size_t index, size_t* length);

v1::Status CheckRoom(const tern::Tensor& tensor, TernDType as, size_t bytes);

// Copies all elements of `from`, a v1::Tensor or v1::Value, to the caller's memory.
template <class T> v1::Status CopyTo(const T& from, TernDType as, void* out, size_t bytes) {
  if (as <= TERN_INVALID_DTYPE || as > TERN_C128 || as == TERN_STRING)
    return Invalid("elements cannot be copied as the type ", as, " (", tern_dtype_name(as), ")");
  const auto type = static_cast<v1::DType>(as);
  const tern::Tensor* tensor = v1::Access::Get(from);
  const bool same = tensor && tensor->dtype() == static_cast<tern::DType>(as);
  if (!same)  // CheckRead allocates, so a copy without conversion does not call it
    if (v1::Status status = v1::Access::CheckRead(from, type); !status.ok()) return status;
  if (v1::Status status = CheckRoom(*tensor, as, bytes); !status.ok()) return status;
  if (!bytes) return {};
  if (!out) return Invalid("the elements cannot be copied to NULL");
  if (!same)
    v1::Access::Read(from, out, type);
  else if (tensor->contiguous())
    std::memcpy(out, tensor->raw(), bytes);
  else
    std::memcpy(out, tensor->Contiguous().raw(), bytes);
  return {};
}

}  // namespace tern::c
