#include "import/mindir/item.h"

#include <algorithm>

namespace tern::mindir {

Item Item::Of(Value* value) {
  Item item;
  item.kind = Kind::kValue;
  item.value = value;
  return item;
}

Item Item::Constant(Tensor tensor, bool number) {
  Item item;
  item.kind = Kind::kConstant;
  item.constant = std::move(tensor);
  item.number = number;
  return item;
}

Item Item::Text(std::string text) {
  Item item;
  item.kind = Kind::kText;
  item.text = std::move(text);
  return item;
}

Item Item::TypeOf(DType dtype) {
  Item item;
  item.kind = Kind::kType;
  item.dtype = dtype;
  return item;
}

Item Item::Monad() {
  Item item;
  item.kind = Kind::kMonad;
  return item;
}

Item Item::Tuple(std::vector<Item> items, Kind kind) {
  Item item;
  item.kind = kind;
  item.leaves = 0;
  for (const Item& i : items) {
    item.depth = std::max(item.depth, i.depth + 1);
    item.leaves = std::min(item.leaves + i.leaves, kMaxLeaves + 1);
  }
  item.items = std::make_shared<const std::vector<Item>>(std::move(items));
  return item;
}

std::string Item::Describe() const {
  switch (kind) {
    case Kind::kNone:
      return "None";
    case Kind::kMonad:
      return "a monad";
    case Kind::kValue:
      return value->type.ToString();
    case Kind::kConstant:
      return constant.Describe();
    case Kind::kText:
      return StrCat("'", text, "'");
    case Kind::kType:
      return StrCat("the type ", DTypeName(dtype));
    case Kind::kTuple:
      return StrCat("a tuple of ", size());
    case Kind::kFunction:
    case Kind::kSwitch:
      return "a function";
    case Kind::kCallAgain:
    case Kind::kLeave:
      return "the next call of a loop";
  }
  return {};
}

const Tensor* ConstantOf(const Item& item) {
  const Tensor* t = nullptr;
  if (item.is(Item::Kind::kConstant)) t = &item.constant;
  if (item.is(Item::Kind::kValue) && item.value->is_constant()) t = &item.value->constant;
  return t && (IsNumeric(t->dtype()) || t->dtype() == DType::kBool) ? t : nullptr;
}

namespace {

template <class T, class Read> std::optional<std::vector<T>> ElementsOf(const Item& item, Read read) {
  if (const Tensor* t = ConstantOf(item)) return read(*t);
  if (!item.is(Item::Kind::kTuple)) return std::nullopt;
  std::vector<T> all;
  for (size_t i = 0; i < item.size(); ++i) {
    const Tensor* t = ConstantOf(item[i]);
    if (!t || t->size() != 1) return std::nullopt;
    all.push_back(read(*t)[0]);
  }
  return all;
}

}  // namespace

std::optional<std::vector<int64_t>> LongsOf(const Item& item) {
  if (const Tensor* t = ConstantOf(item); t && !IsInt(t->dtype()) && t->dtype() != DType::kBool)
    return std::nullopt;
  for (size_t i = 0; item.is(Item::Kind::kTuple) && i < item.size(); ++i) {
    const Tensor* t = ConstantOf(item[i]);
    if (t && !IsInt(t->dtype()) && t->dtype() != DType::kBool) return std::nullopt;
  }
  return ElementsOf<int64_t>(item, [](const Tensor& t) { return ToLongs(t); });
}

std::optional<std::vector<double>> DoublesOf(const Item& item) {
  if (const Tensor* t = ConstantOf(item); t && t->dtype() == DType::kString) return std::nullopt;
  return ElementsOf<double>(item, [](const Tensor& t) { return ToDoubles(t); });
}

}  // namespace tern::mindir
