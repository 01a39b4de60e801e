// Value: the public API's immutable view of a Datum.
#include <algorithm>
#include <cstring>
#include <set>

#include "bindings/cpp/api.h"

namespace tern::v1 {
namespace {

const tern::Datum* Of(const std::shared_ptr<const void>& datum) {
  return static_cast<const tern::Datum*>(datum.get());
}

const tern::Tensor* TensorIn(const std::shared_ptr<const void>& datum) {
  return datum && Of(datum)->is_tensor() ? &Of(datum)->tensor : nullptr;
}

const tern::MapData* MapIn(const std::shared_ptr<const void>& datum) {
  return datum && Of(datum)->kind == tern::Datum::Kind::kMap ? Of(datum)->map.get() : nullptr;
}

// Returns whether a and b can be items of one sequence or values of one map. They must have the same kind,
// element type and key type. Their dims may differ.
bool SameKind(const tern::Datum& a, const tern::Datum& b) {
  return a.kind == b.kind && (!a.is_tensor() || a.tensor.dtype() == b.tensor.dtype()) &&
         (a.kind != tern::Datum::Kind::kMap || a.map->keys.dtype() == b.map->keys.dtype());
}

tern::Status CheckItems(const char* what, const tern::DatumList& items) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].kind == tern::Datum::Kind::kEmpty) return tern::InvalidArgument(what, " ", i, " is empty");
    if (!SameKind(items[i], items[0]))
      return tern::InvalidArgument(what, " ", i, " is ", tern::TypeOf(items[i]).ToString(), ", but ", what,
                                   " 0 is ", tern::TypeOf(items[0]).ToString());
  }
  return {};
}

template <class K> const K* FindKey(const tern::MapData& map, const K& key) {
  const K* keys = map.keys.data<K>();
  const K* end = keys + map.keys.size();
  const K* it = std::find(keys, end, key);
  return it == end ? nullptr : it;
}

template <class K>
tern::Status MakeMap(const std::vector<K>& keys, tern::DatumList items, tern::Datum& made) {
  if (keys.size() != items.size())
    return tern::InvalidArgument("a map needs one value per key, got ", keys.size(), " keys and ",
                                 items.size(), " values");
  if (std::set<K>(keys.begin(), keys.end()).size() != keys.size())
    return tern::InvalidArgument("a key of the map occurs twice");
  TERN_TRY(CheckItems("value", items));
  tern::Tensor tensor(static_cast<tern::DType>(kTypeOf<K>), {static_cast<int64_t>(keys.size())});
  std::copy(keys.begin(), keys.end(), tensor.template data<K>());
  made = tern::Datum::MapOf(std::move(tensor), std::move(items));
  return {};
}

}  // namespace

// Calls `body` to fill a new Datum. Returns the value, or the error of `body`.
template <class F> Result<Value> Value::Make(F&& body) {
  std::shared_ptr<tern::Datum> made;
  const Status status = Protect([&]() -> tern::Status {
    made = std::make_shared<tern::Datum>();
    return body(*made);
  });
  if (!status.ok()) return status;
  return Value(std::move(made));
}

Result<Value> Value::MakeTensor(const void* data, size_t count, DType type, const Shape& shape) {
  return Make([&](tern::Datum& made) -> tern::Status {
    const auto dtype = static_cast<tern::DType>(type);
    if (dtype == tern::DType::kInvalid) return tern::InvalidArgument("this C++ type is not an element type");
    const auto wanted = tern::CheckedCount(shape, dtype);
    if (!wanted || static_cast<size_t>(*wanted) != count)
      return tern::InvalidArgument(count, " elements do not match the shape [", tern::Join(shape, ","), "]");
    tern::Tensor tensor(dtype, shape);
    if (dtype == tern::DType::kString)
      std::copy_n(static_cast<const std::string*>(data), count, tensor.data<std::string>());
    else if (count)
      std::memcpy(tensor.raw(), data, tensor.bytes());
    made = std::move(tensor);
    return {};
  });
}

Result<Value> Value::TensorOf(const std::vector<bool>& data, const Shape& shape) {
  std::unique_ptr<bool[]> flat;
  const Status copied = Protect([&]() -> tern::Status {
    flat = std::make_unique<bool[]>(data.size());
    std::copy(data.begin(), data.end(), flat.get());
    return {};
  });
  if (!copied.ok()) return copied;
  return MakeTensor(flat.get(), data.size(), DType::kBool, shape);
}

Result<Value> Value::SequenceOf(const std::vector<Value>& items) {
  return Make([&](tern::Datum& made) -> tern::Status {
    tern::DatumList list;
    for (const Value& item : items) list.push_back(item.datum_ ? *Of(item.datum_) : tern::Datum());
    TERN_TRY(CheckItems("item", list));
    made = tern::Datum::SequenceOf(std::move(list));
    return {};
  });
}

Result<Value> Value::MapOf(const std::vector<int64_t>& keys, const std::vector<Value>& values) {
  return MapOfKeys(keys, values);
}
Result<Value> Value::MapOf(const std::vector<std::string>& keys, const std::vector<Value>& values) {
  return MapOfKeys(keys, values);
}

template <class K>
Result<Value> Value::MapOfKeys(const std::vector<K>& keys, const std::vector<Value>& values) {
  return Make([&](tern::Datum& made) -> tern::Status {
    tern::DatumList list;
    for (const Value& item : values) list.push_back(item.datum_ ? *Of(item.datum_) : tern::Datum());
    return MakeMap(keys, std::move(list), made);
  });
}

Value Value::None() {
  static const auto* none = new tern::Datum(tern::Datum::None());
  return Value(std::shared_ptr<const void>(std::shared_ptr<const void>(), none));
}

Value::Kind Value::kind() const {
  if (!datum_) return Kind::kEmpty;
  switch (Of(datum_)->kind) {
    case tern::Datum::Kind::kTensor:
      return Kind::kTensor;
    case tern::Datum::Kind::kSequence:
      return Kind::kSequence;
    case tern::Datum::Kind::kMap:
      return Kind::kMap;
    case tern::Datum::Kind::kNone:
      return Kind::kNone;
    case tern::Datum::Kind::kEmpty:
      break;
  }
  return Kind::kEmpty;
}

std::string Value::type() const { return (datum_ ? tern::TypeOf(*Of(datum_)) : tern::Type()).ToString(); }

size_t Value::size() const {
  if (const tern::Tensor* t = TensorIn(datum_)) return static_cast<size_t>(t->size());
  if (const tern::MapData* map = MapIn(datum_)) return map->values.size();
  return kind() == Kind::kSequence ? Of(datum_)->sequence->size() : 0;
}

DType Value::dtype() const {
  const tern::Tensor* t = TensorIn(datum_);
  return t ? static_cast<DType>(t->dtype()) : DType::kInvalid;
}

Shape Value::shape() const {
  const tern::Tensor* t = TensorIn(datum_);
  return t ? t->dims() : Shape();
}

size_t Value::bytes() const {
  const tern::Tensor* t = TensorIn(datum_);
  return t ? t->bytes() : 0;
}

const void* Value::raw() const {
  const tern::Tensor* t = TensorIn(datum_);
  return t ? t->raw() : nullptr;
}

Value Value::At(size_t i) const {
  if (i >= size() || kind() == Kind::kTensor) return {};
  const tern::MapData* map = MapIn(datum_);
  const tern::DatumList& list = map ? map->values : *Of(datum_)->sequence;
  return Value(std::shared_ptr<const void>(datum_, &list[i]));
}

DType Value::key_type() const {
  const tern::MapData* map = MapIn(datum_);
  return map ? static_cast<DType>(map->keys.dtype()) : DType::kInvalid;
}

const void* Value::raw_keys() const {
  const tern::MapData* map = MapIn(datum_);
  return map ? map->keys.raw() : nullptr;
}

Value Value::Find(int64_t key) const {
  const int64_t* at = key_type() == DType::kI64 ? FindKey(*MapIn(datum_), key) : nullptr;
  return at ? At(static_cast<size_t>(at - static_cast<const int64_t*>(raw_keys()))) : Value();
}

Value Value::Find(const std::string& key) const {
  const std::string* at = key_type() == DType::kString ? FindKey(*MapIn(datum_), key) : nullptr;
  return at ? At(static_cast<size_t>(at - static_cast<const std::string*>(raw_keys()))) : Value();
}

}  // namespace tern::v1
