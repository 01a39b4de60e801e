// The errors of the C API, lists of strings, versions and element types.
#include <new>

#include "base/dtype.h"
#include "bindings/c/handles.h"

namespace tern::c {

static_assert(TERN_CANCELLED == static_cast<int>(v1::Code::kCancelled));
static_assert(TERN_C128 == static_cast<int>(v1::DType::kC128));
static_assert(TERN_KIND_NONE == static_cast<int>(v1::Value::Kind::kNone));

// The text is short enough to be stored in the object, so nothing is allocated.
TernStatus* OutOfMemory() noexcept {
  static TernStatus status{TERN_RESOURCE_EXHAUSTED, "out of memory"};
  return &status;
}

TernStatus* Give(const v1::Status& status) noexcept {
  if (status.ok()) return nullptr;
  try {
    return new TernStatus{static_cast<TernCode>(status.code()), status.message()};
  } catch (...) {
    return OutOfMemory();
  }
}

v1::Status CurrentException() noexcept {
  try {
    return v1::Protect([]() -> tern::Status { throw; });
  } catch (const std::bad_alloc&) {
    return v1::Status(v1::Code::kResourceExhausted, "out of memory");
  } catch (...) {
    return v1::Status(v1::Code::kInternal, "internal error");
  }
}

v1::Status CheckNotNull(const char* function, std::initializer_list<Argument> arguments) {
  for (const Argument& argument : arguments)
    if (!argument.value) return Invalid(function, ": the argument '", argument.name, "' is NULL");
  return {};
}

}  // namespace tern::c

using tern::c::OutOfMemory;

TernCode tern_status_code(const TernStatus* status) { return status ? status->code : TERN_OK; }
const char* tern_status_message(const TernStatus* status) { return status ? status->message.c_str() : ""; }
void tern_status_free(TernStatus* status) {
  if (status != OutOfMemory()) delete status;
}

size_t tern_strings_count(const TernStrings* strings) { return strings ? strings->texts.size() : 0; }
const char* tern_strings_at(const TernStrings* strings, size_t index) {
  return index < tern_strings_count(strings) ? strings->texts[index].c_str() : nullptr;
}
void tern_strings_free(TernStrings* strings) { delete strings; }

uint32_t tern_api_version(void) { return TERN_API_VERSION; }
const char* tern_version(void) { return tern::v1::Version(); }

const char* tern_dtype_name(TernDType dtype) {
  const bool known = dtype >= TERN_F32 && dtype <= TERN_C128;
  return tern::DTypeName(known ? static_cast<tern::DType>(dtype) : tern::DType::kInvalid);
}

size_t tern_dtype_bits(TernDType dtype) {
  if (dtype < TERN_F32 || dtype > TERN_C128 || dtype == TERN_STRING) return 0;
  return static_cast<size_t>(tern::BitWidth(static_cast<tern::DType>(dtype)));
}

int64_t tern_clock_ns(void) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
