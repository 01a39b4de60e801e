// The functions of the C API that make values.
#include "bindings/c/elements.h"

using tern::c::Checked;
using tern::c::Invalid;
using tern::c::Store;
using tern::c::Try;
using tern::v1::Access;
using tern::v1::Status;
using tern::v1::Value;

namespace {

Status Collect(const TernValue* const* values, size_t count, std::vector<Value>& out) {
  if (!values && count) return Invalid("the array of values is NULL, but has ", count, " elements");
  for (size_t i = 0; i < count; ++i) {
    if (!values[i]) return Invalid("value ", i, " of ", count, " is NULL");
    out.push_back(values[i]->value);
  }
  return {};
}

}  // namespace

TernStatus* tern_value_tensor(TernDType dtype, const void* data, size_t bytes, const int64_t* dims,
                              size_t rank, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"out", out}}, [&] {
    Checked checked;
    const Status status = Check({dtype, data, bytes, dims, rank}, checked);
    if (!status.ok()) return status;
    NormaliseFlags(checked);
    return Store(Access::MakeTensor(checked.data, checked.count, checked.dtype, checked.shape), out);
  });
}

TernStatus* tern_value_strings(const char* const* strings, const size_t* lengths, size_t count,
                               const int64_t* dims, size_t rank, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"out", out}}, [&] {
    std::vector<std::string> copies;
    tern::v1::Shape shape;
    Status status = tern::c::CheckShape(dims, rank, shape);
    if (status.ok()) status = tern::c::CopyStrings(strings, lengths, count, copies);
    return status.ok() ? Store(Value::TensorOf(copies, shape), out) : status;
  });
}

TernStatus* tern_value_sequence(const TernValue* const* items, size_t count, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"out", out}}, [&] {
    std::vector<Value> values;
    const Status status = Collect(items, count, values);
    return status.ok() ? Store(Value::SequenceOf(values), out) : status;
  });
}

TernStatus* tern_value_map_i64(const int64_t* keys, const TernValue* const* values, size_t count,
                               TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"out", out}}, [&] {
    std::vector<Value> collected;
    if (!keys && count) return Invalid("the array of keys is NULL, but has ", count, " elements");
    const Status status = Collect(values, count, collected);
    if (!status.ok()) return status;
    return Store(Value::MapOf(std::vector<int64_t>(keys, keys + count), collected), out);
  });
}

TernStatus* tern_value_map_strings(const char* const* keys, const size_t* lengths,
                                   const TernValue* const* values, size_t count, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"out", out}}, [&] {
    std::vector<Value> collected;
    std::vector<std::string> copies;
    Status status = tern::c::CopyStrings(keys, lengths, count, copies);
    if (status.ok()) status = Collect(values, count, collected);
    return status.ok() ? Store(Value::MapOf(copies, collected), out) : status;
  });
}

TernStatus* tern_value_none(TernValue** out) {
  return Try(__func__, {{"out", out}}, [&] {
    *out = new TernValue(Value::None());
    return Status();
  });
}
