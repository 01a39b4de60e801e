#include "np/rep.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

namespace tern::v1::np {

Array Access::Of(Store tensor, bool weak) {
  return Array(std::make_shared<const Array::Rep>(Array::Rep{std::move(tensor), {}, weak}));
}

Array Access::Error(Status status) {
  return Array(std::make_shared<const Array::Rep>(Array::Rep{{}, std::move(status), false}));
}

const Store& In(const Array& a) {
  if (!a.ok()) throw Failure{a.status()};
  return Access::Tensor(a);
}

Status CaughtStatus() {
  try {
    throw;
  } catch (const Failure& failure) {
    return failure.status;
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");
  } catch (const std::exception& e) {
    return Status(Code::kInternal, tern::StrCat("internal error: ", e.what()));
  }
}

int Width(Type type) { return tern::BitWidth(type) / 8; }

void CheckType(Type type) {
  switch (type) {
    case Type::kF32:
    case Type::kF64:
    case Type::kI32:
    case Type::kI64:
    case Type::kU8:
    case Type::kBool:
      return;
    default:
      Fail("arrays are f32, f64, i32, i64, u8 or bool, not ", tern::DTypeName(type));
  }
}

namespace {

struct alignas(64) Line {
  std::byte bytes[64];
};

}  // namespace

Store New(Type type, const Dims& dims) {
  if (dims.size() > 16) Fail("an array has at most 16 axes, not ", dims.size());
  const auto count = tern::CheckedCount(dims, type);
  if (!count) Fail(tern::Describe(type, dims), " is not a possible shape");
  const size_t bytes = tern::BytesOf(type, static_cast<size_t>(*count));
  // Memory of Buffer::Allocate is zeroed, which would take longer than many functions.
  auto lines =
      std::make_shared_for_overwrite<Line[]>(std::max<size_t>(1, (bytes + sizeof(Line) - 1) / sizeof(Line)));
  void* data = lines.get();
  return Store::View(tern::Buffer::Borrow(data, bytes, std::move(lines)), type, dims);
}

Store NewZeros(Type type, const Dims& dims) {
  Store x = New(type, dims);
  if (x.size() > 0) std::memset(x.raw(), 0, x.bytes());
  return x;
}

}  // namespace tern::v1::np
