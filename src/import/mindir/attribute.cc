#include "import/mindir/attribute.h"

#include <cctype>

namespace tern::mindir {
namespace {

using A = pb::AttributeProto;

Item NumberOf(DType dtype, int64_t value) {
  Tensor t(dtype, {});
  StoreLong(t, 0, value);
  return Item::Constant(std::move(t), true);
}

Item NumberOf(DType dtype, double value) { return Item::Constant(Tensor::Scalar(dtype, value), true); }

// Returns the element type for an attribute type of numbers. Returns kInvalid for other attribute types.
DType NumberType(A::AttributeType type) {
  if (type < A::FLOAT || type > A::BFLOAT16 || type == A::STRING) return DType::kInvalid;
  const auto dtype = DTypeFromMindir(static_cast<int>(type));  // both enums use the same numbers
  return dtype.ok() && !IsComplex(*dtype) ? *dtype : DType::kInvalid;
}

// Returns the scalar with this index. Reads the single field if it is set and `index` is 0. Otherwise reads
// the repeated field.
Result<Item> Scalar(const A& a, int index) {
  const auto missing = [&] { return InvalidModel("attribute '", a.name(), "' has no value ", index); };
  const DType dtype = NumberType(a.type());
  if (a.type() == A::STRING) {
    if (a.has_s() && index == 0) return Item::Text(a.s());
    return index < a.strings_size() ? Item::Text(a.strings(index)) : Result<Item>(missing());
  }
  if (dtype == DType::kInvalid)
    return Unsupported("attribute '", a.name(), "' has the type ", static_cast<int>(a.type()));
  if (dtype == DType::kF64) {
    if (a.has_d() && index == 0) return NumberOf(dtype, a.d());
    return index < a.doubles_size() ? NumberOf(dtype, a.doubles(index)) : Result<Item>(missing());
  }
  if (IsFloat(dtype)) {
    if (a.has_f() && index == 0) return NumberOf(dtype, static_cast<double>(a.f()));
    return index < a.floats_size() ? NumberOf(dtype, static_cast<double>(a.floats(index)))
                                   : Result<Item>(missing());
  }
  if (a.has_i() && index == 0) return NumberOf(dtype, a.i());
  return index < a.ints_size() ? NumberOf(dtype, a.ints(index)) : Result<Item>(missing());
}

// A tensor without data stands for its element type.
Result<Item> FromTensor(const pb::TensorProto& t, import::ExternalFiles* files) {
  if (!t.has_raw_data() && !t.has_external_data()) {
    TERN_ASSIGN(DType dtype, DTypeFromMindir(t.data_type()));
    return Item::TypeOf(dtype);
  }
  TERN_ASSIGN(Tensor tensor, TensorFromMindir(t, files));
  return Item::Constant(std::move(tensor), false);
}

Result<Item> FromTyped(const A& a, import::ExternalFiles* files) {
  switch (a.type()) {
    case A::NONE:
    case A::TYPE_NULL:
      return Item();
    case A::UMONAD:
    case A::IOMONAD:
      return Item::Monad();
    case A::TENSOR:
      return FromTensor(a.t(), files);
    case A::TENSORS: {
      if (a.tensors_size() == 0) return InvalidModel("attribute '", a.name(), "' has no tensor");
      return FromTensor(a.tensors(0), files);
    }
    case A::TUPLE:
    case A::LIST: {
      std::vector<Item> items;
      for (const auto& value : a.values()) {
        TERN_ASSIGN(Item item, FromTyped(value, files));
        items.push_back(std::move(item));
      }
      return Item::Tuple(std::move(items));
    }
    case A::DICT:
    case A::CLASS_TYPE:
    case A::NAME_SPACE:
    case A::SYMBOL:
    case A::FUNCTOR:
    case A::SCALAR_GRAPH_HOLDER:
      return Item::Text(a.s());
    default:
      return Scalar(a, 0);
  }
}

// Reads the structure of an attribute of version 0, such as "Tuple[value1,Tuple[value2,],]".
class StructureParser {
 public:
  StructureParser(const A& a, import::ExternalFiles* files, std::string_view text)
      : a_(a), files_(files), text_(text) {}

  Result<Item> Parse(int depth = 0) {
    if (depth > kMaxDepth) return InvalidModel("attribute '", a_.name(), "' nests deeper than ", kMaxDepth);
    for (const std::string_view prefix : {"scalar:", "Tuple", "List"})
      if (StartsWith(text_, prefix)) text_.remove_prefix(prefix.size());
    if (StartsWith(text_, "value")) return Element();
    if (!StartsWith(text_, "[")) return Broken();
    text_.remove_prefix(1);
    std::vector<Item> items;
    while (!StartsWith(text_, "]")) {
      TERN_ASSIGN(Item item, Parse(depth + 1));
      items.push_back(std::move(item));
      if (StartsWith(text_, ",")) text_.remove_prefix(1);
    }
    text_.remove_prefix(1);
    return Item::Tuple(std::move(items));
  }

 private:
  static constexpr int kMaxDepth = 32;

  Status Broken() const {
    return InvalidModel("attribute '", a_.name(), "' has a broken structure '", a_.ref_attr_name(), "'");
  }

  // Reads an element. "value0" is the only scalar, and "value1" is the first element of a sequence.
  Result<Item> Element() {
    text_.remove_prefix(5);
    size_t digits = 0;
    while (digits < text_.size() && std::isdigit(static_cast<unsigned char>(text_[digits]))) ++digits;
    int64_t number = 0;
    if (!ParseInt(text_.substr(0, digits), number) || number > INT32_MAX) return Broken();
    text_.remove_prefix(digits);
    const int index = static_cast<int>(number) - 1;
    if (a_.tensors_size() == 0) return Scalar(a_, std::max(index, 0));
    if (index < 0 || index >= a_.tensors_size()) return Broken();
    return FromTensor(a_.tensors(index), files_);
  }

  const A& a_;
  import::ExternalFiles* files_;
  std::string_view text_;
};

}  // namespace

Result<Item> ItemFromAttribute(const A& a, import::ExternalFiles* files) {
  if (!a.has_ref_attr_name()) return FromTyped(a, files);
  const std::string form = a.ref_attr_name();
  if (StartsWith(form, "none")) return Item();
  if (StartsWith(form, "Monad")) return Item::Monad();
  if (StartsWith(form, "tensor") || StartsWith(form, "type")) {
    if (a.tensors_size() == 0) return InvalidModel("attribute '", a.name(), "' has no tensor");
    return FromTensor(a.tensors(0), files);
  }
  if (StartsWith(form, "scalar") || StartsWith(form, "Tuple") || StartsWith(form, "List"))
    return StructureParser(a, files, form).Parse();
  return Unsupported("attribute '", a.name(), "' has the form '", form, "'");
}

}  // namespace tern::mindir
