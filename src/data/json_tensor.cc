#include "data/json_tensor.h"

#include <simdjson.h>

#include <cmath>

namespace tern::data {
namespace {

namespace dom = simdjson::dom;
constexpr size_t kMaxRank = 64;

Status Broken(simdjson::error_code error) {
  return InvalidArgument("not JSON: ", simdjson::error_message(error));
}

// An element of the innermost lists.
struct Leaf {
  enum class Kind { kBool, kInt, kUnsigned, kFloat, kText } kind;
  int64_t integer = 0;
  double number = 0;
  std::string text;
};

bool SpecialNumber(std::string_view text, double& out) {
  if (text == "nan" || text == "NaN")
    out = NAN;
  else if (text == "inf" || text == "Infinity")
    out = INFINITY;
  else if (text == "-inf" || text == "-Infinity")
    out = -INFINITY;
  else
    return false;
  return true;
}

Result<Leaf> LeafOf(dom::element e) {
  switch (e.type()) {
    case dom::element_type::BOOL: {
      const bool v = e.get_bool().value_unsafe();
      return Leaf{Leaf::Kind::kBool, v, v ? 1.0 : 0.0, {}};
    }
    case dom::element_type::INT64: {
      const int64_t v = e.get_int64().value_unsafe();
      return Leaf{Leaf::Kind::kInt, v, static_cast<double>(v), {}};
    }
    case dom::element_type::UINT64: {
      const uint64_t v = e.get_uint64().value_unsafe();
      return Leaf{Leaf::Kind::kUnsigned, static_cast<int64_t>(v), static_cast<double>(v), {}};
    }
    case dom::element_type::DOUBLE:
      return Leaf{Leaf::Kind::kFloat, 0, e.get_double().value_unsafe(), {}};
    case dom::element_type::STRING:
      return Leaf{Leaf::Kind::kText, 0, 0, std::string(e.get_string().value_unsafe())};
    default:
      return InvalidArgument(
          "a tensor's elements must be numbers, booleans or strings, found null or an object");
  }
}

struct Collected {
  Dims dims;
  std::vector<Leaf> leaves;
};

Status Collect(dom::element e, size_t depth, Collected& out) {
  dom::array list;
  const bool is_list = !e.get(list);
  if (is_list != (depth < out.dims.size()))
    return InvalidArgument("ragged lists: depth ", depth, " holds both lists and elements");
  if (!is_list) {
    TERN_ASSIGN(Leaf leaf, LeafOf(e));
    out.leaves.push_back(std::move(leaf));
    return {};
  }
  int64_t count = 0;
  for (const dom::element item : list) {
    TERN_TRY(Collect(item, depth + 1, out));
    ++count;
  }
  if (count != out.dims[depth])
    return InvalidArgument("ragged lists: ", count, " items at depth ", depth, " where the first list has ",
                           out.dims[depth]);
  return {};
}

// Appends the size of the first list at each depth to `dims`. Collect checks that all lists agree with these
// dims.
Status MeasureDims(dom::element e, Dims& dims) {
  dom::array list;
  while (!e.get(list)) {
    if (dims.size() == kMaxRank) return InvalidArgument("lists nested deeper than ", kMaxRank);
    int64_t count = 0;
    dom::element first;
    for (const dom::element item : list)
      if (count++ == 0) first = item;
    dims.push_back(count);
    if (count == 0) break;
    e = first;
  }
  return {};
}

DType Suggest(const std::vector<Leaf>& leaves) {
  bool all_bool = true, all_text = true, any_float = false;
  for (const Leaf& leaf : leaves) {
    double special = 0;
    all_bool &= leaf.kind == Leaf::Kind::kBool;
    all_text &= leaf.kind == Leaf::Kind::kText && !SpecialNumber(leaf.text, special);
    any_float |= leaf.kind == Leaf::Kind::kFloat || leaf.kind == Leaf::Kind::kText;
  }
  if (leaves.empty()) return DType::kF32;
  return all_bool ? DType::kBool : all_text ? DType::kString : any_float ? DType::kF32 : DType::kI64;
}

Status StoreInteger(const Leaf& leaf, Tensor& t, int64_t i) {
  const auto bad = [&](const std::string& what) {
    return InvalidArgument("element [", i, "] is ", what, ", not a valid ", DTypeName(t.dtype()));
  };
  if (leaf.kind == Leaf::Kind::kText) return bad(QuoteText(leaf.text));
  int64_t v = leaf.integer;
  if (leaf.kind == Leaf::Kind::kFloat) {
    if (leaf.number != std::floor(leaf.number) || std::fabs(leaf.number) >= 0x1p53)
      return bad(StrCat(leaf.number));
    v = static_cast<int64_t>(leaf.number);
  }
  StoreLong(t, i, v);
  const bool big = leaf.kind == Leaf::Kind::kUnsigned;  // the number is beyond the range of i64
  const bool same = LoadLong(t, i) == v && (!big || t.dtype() == DType::kU64) &&
                    (v >= 0 || big || !IsUnsignedInt(t.dtype()));
  return same ? Status() : bad(big ? StrCat(static_cast<uint64_t>(v)) : StrCat(v));
}

Status StoreLeaf(const Leaf& leaf, Tensor& t, int64_t i) {
  if (t.dtype() == DType::kString) {
    if (leaf.kind != Leaf::Kind::kText) return InvalidArgument("element [", i, "] is not a string");
    t.data<std::string>()[i] = leaf.text;
    return {};
  }
  if (!IsFloat(t.dtype())) return StoreInteger(leaf, t, i);
  double v = leaf.number;
  if (leaf.kind == Leaf::Kind::kText && !SpecialNumber(leaf.text, v))
    return InvalidArgument("element [", i, "] is ", QuoteText(leaf.text), ", not a number");
  StoreDouble(t, i, v);
  return {};
}

Result<Dims> ShapeField(dom::element e) {
  Dims dims;
  dom::array list;
  if (e.get(list)) return InvalidArgument("\"shape\" is not a list");
  for (const dom::element item : list) {
    int64_t d = 0;
    if (item.get(d) || d < 0 || dims.size() == kMaxRank)
      return InvalidArgument("\"shape\" is not a list of at most ", kMaxRank, " sizes");
    dims.push_back(d);
  }
  return dims;
}

Result<Tensor> TensorOf(dom::element e, DType wanted) {
  std::optional<Dims> shape;
  if (e.type() == dom::element_type::OBJECT) {
    dom::element given, elements;
    if (!e["shape"].get(given)) {
      TERN_ASSIGN(shape, ShapeField(given));
    }
    if (e["data"].get(elements)) return InvalidArgument("expected a tensor, got an object without \"data\"");
    e = elements;
  }
  Collected c;
  TERN_TRY(MeasureDims(e, c.dims));
  if (wanted == DType::kC64 || wanted == DType::kC128)
    return Unsupported("complex numbers in JSON; use .npy");
  TERN_TRY(Collect(e, 0, c));
  const Dims dims = shape ? *shape : c.dims;
  const auto count = CheckedCount(dims, DType::kI8);
  if (!count || static_cast<size_t>(*count) != c.leaves.size())
    return InvalidArgument("\"shape\" [", Join(dims, ","), "] does not fit ", c.leaves.size(), " elements");
  Tensor t(wanted == DType::kInvalid ? Suggest(c.leaves) : wanted, dims);
  for (int64_t i = 0; i < t.size(); ++i) TERN_TRY(StoreLeaf(c.leaves[static_cast<size_t>(i)], t, i));
  return t;
}

bool IsNamed(dom::element e) {
  dom::element ignored;
  return e.type() == dom::element_type::OBJECT && e["data"].get(ignored);
}

}  // namespace

Result<Tensor> ParseJsonTensor(std::string_view text, DType wanted) {
  return Guard([&]() -> Result<Tensor> {
    dom::parser parser;
    dom::element root;
    if (const auto error = parser.parse(text.data(), text.size()).get(root)) return Broken(error);
    return TensorOf(root, wanted);
  });
}

Result<NamedTensors> ParseJsonTensors(std::string_view text,
                                      const std::function<DType(const std::string&)>& type_of) {
  return Guard([&]() -> Result<NamedTensors> {
    dom::parser parser;
    dom::object root;
    if (const auto error = parser.parse(text.data(), text.size()).get(root)) return Broken(error);
    NamedTensors out;
    for (const auto& [key, value] : root) {
      const std::string name(key);
      auto t = TensorOf(value, type_of(name));
      if (!t.ok()) return t.TakeStatus().While(StrCat("reading '", name, "'"));
      out.emplace_back(name, std::move(*t));
    }
    return out;
  });
}

bool HoldsNamedTensors(std::string_view text) {
  dom::parser parser;
  dom::element root;
  return !parser.parse(text.data(), text.size()).get(root) && IsNamed(root);
}

}  // namespace tern::data
