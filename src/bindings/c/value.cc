// The values of the C API: reading tensors, sequences and maps.
#include "bindings/c/elements.h"

using tern::c::Invalid;
using tern::c::Try;
using tern::v1::Access;
using tern::v1::Status;
using tern::v1::Value;

namespace {

const tern::Tensor* TensorOf(const TernValue* value) { return value ? Access::Get(value->value) : nullptr; }

const char* TypeText(const TernValue& value) {
  std::call_once(value.typed, [&] { value.type = value.value.type(); });
  return value.type.c_str();
}

// Stores a part of `whole` in *out. An empty part means that it was not found.
template <class... Pieces>
Status Part(const TernValue& whole, Value part, TernValue** out, const Pieces&... missing) {
  if (part.empty()) return tern::v1::Convert(tern::NotFound("the value is ", TypeText(whole), missing...));
  *out = new TernValue(std::move(part));
  return {};
}

}  // namespace

void tern_value_free(TernValue* value) { delete value; }

TernKind tern_value_kind(const TernValue* value) {
  return value ? static_cast<TernKind>(value->value.kind()) : TERN_KIND_EMPTY;
}

const char* tern_value_type(const TernValue* value) {
  return tern::c::TryGet<const char*>(nullptr, [&] { return value ? TypeText(*value) : nullptr; });
}

size_t tern_value_size(const TernValue* value) { return value ? value->value.size() : 0; }

TernDType tern_value_dtype(const TernValue* value) {
  return value ? static_cast<TernDType>(value->value.dtype()) : TERN_INVALID_DTYPE;
}

size_t tern_value_shape(const TernValue* value, int64_t* dims, size_t capacity) {
  const tern::Tensor* tensor = TensorOf(value);
  return tensor ? tern::c::CopyDims(tensor->dims(), dims, capacity) : 0;
}

size_t tern_value_bytes(const TernValue* value) {
  return tern_value_dtype(value) == TERN_STRING || !value ? 0 : value->value.bytes();
}
const void* tern_value_data(const TernValue* value) {
  return tern_value_dtype(value) == TERN_STRING || !value ? nullptr : value->value.raw();
}
const char* tern_value_string(const TernValue* value, size_t index, size_t* length) {
  return tern::c::StringAt(TensorOf(value), index, length);
}

TernStatus* tern_value_copy_to(const TernValue* value, TernDType as, void* out, size_t bytes) {
  return Try(__func__, {{"value", value}}, [&] { return tern::c::CopyTo(value->value, as, out, bytes); });
}

TernStatus* tern_value_at(const TernValue* value, size_t index, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"value", value}, {"out", out}}, [&]() -> Status {
    const TernKind kind = tern_value_kind(value);
    if (kind != TERN_KIND_SEQUENCE && kind != TERN_KIND_MAP)
      return Invalid("the value is ", TypeText(*value), ", neither a sequence nor a map");
    return Part(*value, value->value.At(index), out, " with ", value->value.size(),
                " items, so it has no item ", index);
  });
}

TernDType tern_value_key_type(const TernValue* value) {
  return value ? static_cast<TernDType>(value->value.key_type()) : TERN_INVALID_DTYPE;
}

TernStatus* tern_value_key_i64(const TernValue* value, size_t index, int64_t* out) {
  return Try(__func__, {{"value", value}, {"out", out}}, [&]() -> Status {
    if (tern_value_key_type(value) != TERN_I64)
      return Invalid("the value is ", TypeText(*value), ", not a map whose keys are i64");
    if (index >= value->value.size())
      return Invalid("the map has ", value->value.size(), " entries, so it has no key ", index);
    *out = static_cast<const int64_t*>(Access::Keys(value->value))[index];
    return {};
  });
}

const char* tern_value_key_string(const TernValue* value, size_t index, size_t* length) {
  const bool has_strings = tern_value_key_type(value) == TERN_STRING;
  const void* keys = has_strings ? Access::Keys(value->value) : nullptr;
  return tern::c::StringAt(static_cast<const std::string*>(keys), tern_value_size(value), index, length);
}

TernStatus* tern_value_find_i64(const TernValue* value, int64_t key, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"value", value}, {"out", out}}, [&]() -> Status {
    if (tern_value_key_type(value) != TERN_I64)
      return Invalid("the value is ", TypeText(*value), ", not a map whose keys are i64");
    return Part(*value, value->value.Find(key), out, ", and has no key ", key);
  });
}

TernStatus* tern_value_find_string(const TernValue* value, const char* key, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"value", value}, {"key", key}, {"out", out}}, [&]() -> Status {
    if (tern_value_key_type(value) != TERN_STRING)
      return Invalid("the value is ", TypeText(*value), ", not a map whose keys are strings");
    return Part(*value, value->value.Find(std::string(key)), out, ", and has no key '", key, "'");
  });
}
