#include "bindings/c/elements.h"

#include <algorithm>

namespace tern::c {

v1::Status CheckShape(const int64_t* dims, size_t rank, v1::Shape& shape) {
  if (!dims && rank) return Invalid("the argument 'dims' is NULL, but the rank is ", rank);
  if (rank) shape.assign(dims, dims + rank);
  return {};
}

v1::Status Check(const Elements& elements, Checked& checked) {
  const TernDType dtype = elements.dtype;
  if (dtype <= TERN_INVALID_DTYPE || dtype > TERN_C128) return Invalid(dtype, " is not an element type");
  if (dtype == TERN_STRING)
    return Invalid("strings are not an array of bytes; use the function that accepts strings");
  if (v1::Status status = CheckShape(elements.dims, elements.rank, checked.shape); !status.ok())
    return status;
  const auto type = static_cast<tern::DType>(dtype);
  const auto count = tern::CheckedCount(checked.shape, type);
  if (!count) return Invalid("impossible shape [", tern::Join(checked.shape, ","), "]");
  const size_t wanted = tern::BytesOf(type, static_cast<size_t>(*count));
  if (wanted != elements.bytes)
    return Invalid("got ", elements.bytes, " bytes, but ", tern::Describe(type, checked.shape), " has ",
                   wanted);
  if (!elements.data && wanted) return Invalid("got ", wanted, " bytes at NULL");
  checked.dtype = static_cast<v1::DType>(dtype);
  checked.data = elements.data;
  checked.count = static_cast<size_t>(*count);
  return {};
}

void NormaliseFlags(Checked& checked) {
  const auto* bytes = static_cast<const uint8_t*>(checked.data);
  if (checked.dtype != v1::DType::kBool || !bytes) return;
  if (std::all_of(bytes, bytes + checked.count, [](uint8_t b) { return b <= 1; })) return;
  checked.flags.assign(bytes, bytes + checked.count);
  for (uint8_t& b : checked.flags) b = b != 0;
  checked.data = checked.flags.data();
}

v1::Status CopyStrings(const char* const* strings, const size_t* lengths, size_t count,
                       std::vector<std::string>& out) {
  if (!strings && count) return Invalid("the array of strings is NULL, but has ", count, " elements");
  for (size_t i = 0; i < count; ++i) {
    if (!strings[i] && !(lengths && lengths[i] == 0)) return Invalid("string ", i, " of ", count, " is NULL");
    out.push_back(!strings[i] ? std::string()
                  : lengths   ? std::string(strings[i], lengths[i])
                              : std::string(strings[i]));
  }
  return {};
}

size_t CopyDims(const v1::Shape& shape, int64_t* dims, size_t capacity) {
  if (dims) std::copy_n(shape.begin(), std::min(capacity, shape.size()), dims);
  return shape.size();
}

const char* StringAt(const std::string* strings, size_t count, size_t index, size_t* length) {
  const bool exists = strings && index < count;
  if (length) *length = exists ? strings[index].size() : 0;
  return exists ? strings[index].c_str() : nullptr;
}

const char* StringAt(const tern::Tensor* tensor, size_t index, size_t* length) {
  const bool has_strings = tensor && tensor->dtype() == tern::DType::kString;
  return StringAt(has_strings ? tensor->data<std::string>() : nullptr,
                  has_strings ? static_cast<size_t>(tensor->size()) : 0, index, length);
}

v1::Status CheckRoom(const tern::Tensor& tensor, TernDType as, size_t bytes) {
  const size_t wanted = tern::BytesOf(static_cast<tern::DType>(as), static_cast<size_t>(tensor.size()));
  if (wanted == bytes) return {};
  return Invalid(tensor.Describe(), " has ", wanted, " bytes as ", tern_dtype_name(as), ", but the room is ",
                 bytes, " bytes");
}

}  // namespace tern::c
