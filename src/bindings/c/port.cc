// The ports of the C API: inputs, outputs and overridable constants of a predictor.
#include <algorithm>
#include <new>

#include "bindings/c/elements.h"

using tern::c::Check;
using tern::c::Checked;
using tern::c::CheckShape;
using tern::c::Elements;
using tern::c::Invalid;
using tern::c::Try;
using tern::v1::Access;
using tern::v1::Status;

namespace {

const tern::Tensor* TensorOf(const TernPort* port) { return port ? Access::Get(port->tensor) : nullptr; }

const tern::v1::DeclaredDim* DimOf(const TernPort* port, size_t axis) {
  return port && axis < port->declared_dims.size() ? &port->declared_dims[axis] : nullptr;
}

// Prefixes the message with the port's name and type.
Status Named(const TernPort& port, const Status& status) {
  if (status.ok()) return {};
  return Status(status.code(), tern::StrCat("port '", port.tensor.name(), "' (", port.declared_type,
                                            "): ", status.message()));
}

// Checks elements for a port, and that they have the port's element type.
Status CheckFor(const TernPort& port, const Elements& elements, Checked& checked) {
  if (Status status = Named(port, Check(elements, checked)); !status.ok()) return status;
  const tern::Type& declared = Access::Declared(port.tensor)->type;
  const auto type = static_cast<tern::DType>(checked.dtype);
  if (!declared.tensor() || declared.dtype == tern::DType::kInvalid || declared.dtype == type) return {};
  return Named(port, Invalid("got elements of type ", tern::DTypeName(type)));
}

}  // namespace

const char* tern_port_name(const TernPort* port) { return port ? port->tensor.name().c_str() : nullptr; }
const char* tern_port_declared_type(const TernPort* port) {
  return port ? port->declared_type.c_str() : nullptr;
}
int32_t tern_port_declared_rank(const TernPort* port) { return port ? port->tensor.declared_rank() : -1; }
int64_t tern_port_declared_dim(const TernPort* port, size_t axis) {
  const auto* dim = DimOf(port, axis);
  return dim ? dim->value : -1;
}
const char* tern_port_declared_symbol(const TernPort* port, size_t axis) {
  const auto* dim = DimOf(port, axis);
  return dim ? dim->symbol.c_str() : nullptr;
}

TernDType tern_port_dtype(const TernPort* port) {
  return port ? static_cast<TernDType>(port->tensor.dtype()) : TERN_INVALID_DTYPE;
}

size_t tern_port_shape(const TernPort* port, int64_t* dims, size_t capacity) {
  if (const tern::Tensor* tensor = TensorOf(port)) return tern::c::CopyDims(tensor->dims(), dims, capacity);
  if (!port) return 0;
  for (size_t i = 0; dims && i < std::min(capacity, port->declared_dims.size()); ++i)
    dims[i] = port->declared_dims[i].value;
  return port->declared_dims.size();
}

size_t tern_port_size(const TernPort* port) { return port ? port->tensor.size() : 0; }
size_t tern_port_bytes(const TernPort* port) {
  return tern_port_dtype(port) == TERN_STRING || !port ? 0 : port->tensor.bytes();
}
void* tern_port_data(TernPort* port) {
  return tern_port_dtype(port) == TERN_STRING || !port ? nullptr : port->tensor.raw();
}
const char* tern_port_string(const TernPort* port, size_t index, size_t* length) {
  return tern::c::StringAt(TensorOf(port), index, length);
}

TernStatus* tern_port_copy_to(const TernPort* port, TernDType as, void* out, size_t bytes) {
  return Try(__func__, {{"port", port}}, [&] { return tern::c::CopyTo(port->tensor, as, out, bytes); });
}

TernStatus* tern_port_get_value(const TernPort* port, TernValue** out) {
  if (out) *out = nullptr;
  return Try(__func__, {{"port", port}, {"out", out}}, [&]() -> Status {
    if (!Access::HasValue(port->tensor))
      return Named(*port, tern::v1::Convert(tern::NotFound("there is no value yet")));
    tern::v1::Value value = port->tensor.value();
    if (value.empty()) throw std::bad_alloc();
    *out = new TernValue(std::move(value));
    return {};
  });
}

TernStatus* tern_port_copy_from(TernPort* port, TernDType dtype, const void* data, size_t bytes,
                                const int64_t* dims, size_t rank) {
  return Try(__func__, {{"port", port}}, [&] {
    Checked checked;
    const Status status = CheckFor(*port, {dtype, data, bytes, dims, rank}, checked);
    if (!status.ok()) return status;
    NormaliseFlags(checked);
    return Access::Copy(port->tensor, checked.data, checked.count, checked.dtype, checked.shape);
  });
}

TernStatus* tern_port_copy_strings(TernPort* port, const char* const* strings, const size_t* lengths,
                                   size_t count, const int64_t* dims, size_t rank) {
  return Try(__func__, {{"port", port}}, [&] {
    std::vector<std::string> copies;
    tern::v1::Shape shape;
    Status status = CheckShape(dims, rank, shape);
    if (status.ok()) status = tern::c::CopyStrings(strings, lengths, count, copies);
    if (!status.ok()) return Named(*port, status);
    return port->tensor.CopyFrom(copies, shape);
  });
}

TernStatus* tern_port_share(TernPort* port, TernDType dtype, const void* data, size_t bytes,
                            const int64_t* dims, size_t rank) {
  return Try(__func__, {{"port", port}}, [&] {
    Checked checked;
    const Status status = CheckFor(*port, {dtype, data, bytes, dims, rank}, checked);
    return status.ok() ? port->tensor.Share(const_cast<void*>(data), bytes, checked.shape) : status;
  });
}

TernStatus* tern_port_reshape(TernPort* port, const int64_t* dims, size_t rank) {
  return Try(__func__, {{"port", port}}, [&] {
    tern::v1::Shape shape;
    const Status status = CheckShape(dims, rank, shape);
    return status.ok() ? port->tensor.Reshape(shape) : Named(*port, status);
  });
}

TernStatus* tern_port_set_value(TernPort* port, const TernValue* value) {
  return Try(__func__, {{"port", port}, {"value", value}}, [&] { return port->tensor.Set(value->value); });
}

TernStatus* tern_port_bind(TernPort* port, TernDType dtype, void* data, size_t bytes, const int64_t* dims,
                           size_t rank) {
  return Try(__func__, {{"port", port}}, [&] {
    Checked checked;
    const Status status = CheckFor(*port, {dtype, data, bytes, dims, rank}, checked);
    return status.ok() ? port->tensor.Bind(data, bytes, checked.shape) : status;
  });
}

TernStatus* tern_port_reset(TernPort* port) {
  return Try(__func__, {{"port", port}}, [&] { return port->tensor.Reset(); });
}
