// ZipMap, DictVectorizer, CastMap: convert between tensors and maps from labels to numbers.
#include <algorithm>
#include <map>
#include <numeric>

#include "ops/elementwise/broadcast.h"
#include "ops/ml/labels.h"

namespace tern {
namespace {

struct ZipMap : Labels {};

struct DictVectorizer : Labels {};

enum class CastTo { kFloat, kString, kInt };

struct CastMap {
  CastTo to = CastTo::kFloat;
  bool sparse = false;
  int64_t size = 1;
  template <class V> void Visit(V& v) {
    v.Enum("to", to, {"f32", "string", "i64"}, "result type");
    v("sparse", sparse, "a key is the index of its value; otherwise values are in the order of their keys");
    v("size", size, "length of a sparse result");
  }
};

Status InferZip(const ZipMap& op, InferContext& c) {
  TERN_TRY(CheckLabels(op));
  const Shape& x = c.ShapeOf("x");
  if (x.ranked && (x.rank() < 1 || x.rank() > 2))
    return InvalidModel("input 'x' must be [rows, labels] or [labels], got ", c.In("x").ToString());
  if (x.ranked && x[-1].known() && !x[-1].Is(op.count()))
    return InvalidModel("x has ", x[-1].value(), " columns for ", op.count(), " labels");
  c.Out("maps",
        Type::SequenceOf(Type::MapOf(op.type(), Type::TensorOf(DType::kF32, Shape(std::vector<Dim>{})))));
  return {};
}

Status RunZip(const ZipMap& op, EvalContext& c) {
  const Tensor& x = c.In("x");
  if (x.rank() < 1 || x.rank() > 2 || x.dim(-1) != op.count())
    return InvalidArgument("x is ", x.Describe(), " for ", op.count(), " labels");
  // Keys are in ascending order, as in a sorted map.
  std::vector<size_t> order(static_cast<size_t>(op.count()));
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return op.text() ? op.texts[a] < op.texts[b] : op.ints[a] < op.ints[b];
  });
  Tensor keys(op.type(), {op.count()});
  WriteLabels(op, {order.begin(), order.end()}, keys);
  DatumList maps;
  for (int64_t r = 0; r < (x.rank() == 1 ? 1 : x.dim(0)); ++r) {
    DatumList values;
    for (size_t i : order)
      values.emplace_back(
          Tensor::Scalar(DType::kF32, LoadDouble(x, r * op.count() + static_cast<int64_t>(i))));
    maps.push_back(Datum::MapOf(keys, std::move(values)));
  }
  c.SetOut("maps", Datum::SequenceOf(std::move(maps)));
  return {};
}

Result<const MapData*> MapOf(EvalContext& c) {
  const Datum& d = c.InDatum("map");
  if (d.kind != Datum::Kind::kMap) return InvalidArgument("input 'map' must be a map, got ", d.Describe());
  for (const Datum& v : d.map->values)
    if (!v.is_tensor() || v.tensor.size() != 1)
      return InvalidArgument("a value of the map is ", v.Describe(), ", not one element");
  return d.map.get();
}

DType ValueType(const Type& map) {
  return map.kind == Type::Kind::kMap && map.element ? map.element->dtype : DType::kInvalid;
}

// Prints a float with six decimals, as std::to_string and onnxruntime do.
std::string NumberText(const Tensor& v) {
  return IsInt(v.dtype()) ? StrCat(LoadLong(v, 0)) : std::to_string(static_cast<float>(LoadDouble(v, 0)));
}

Status Put(const Tensor& v, Tensor& y, int64_t at) {
  if (v.dtype() == y.dtype()) {
    CopyElement(v, 0, y, at);
  } else if (y.dtype() == DType::kString) {
    y.data<std::string>()[at] = NumberText(v);
  } else if (v.dtype() == DType::kString) {
    double number = 0;
    if (!ParseDouble(v.data<std::string>()[0], number))
      return InvalidArgument("'", v.data<std::string>()[0], "' is not a number");
    if (y.dtype() == DType::kI64)
      StoreLong(y, at, static_cast<int64_t>(number));
    else
      StoreDouble(y, at, number);
  } else if (y.dtype() == DType::kI64) {
    StoreLong(y, at, static_cast<int64_t>(LoadDouble(v, 0)));
  } else {
    StoreDouble(y, at, IsInt(v.dtype()) ? static_cast<double>(LoadLong(v, 0)) : LoadDouble(v, 0));
  }
  return {};
}

Status InferDict(const DictVectorizer& op, InferContext& c) {
  TERN_TRY(CheckLabels(op));
  const Type& map = c.In("map");
  if (map.kind == Type::Kind::kMap && map.dtype != op.type())
    return InvalidModel("keys are ", DTypeName(map.dtype), ", but the vocabulary is ", DTypeName(op.type()));
  c.Out("y", ValueType(map), Shape({1, op.count()}));
  return {};
}

Status RunDict(const DictVectorizer& op, EvalContext& c) {
  TERN_ASSIGN(const MapData* map, MapOf(c));
  if (map->keys.dtype() != op.type())
    return InvalidArgument("keys are ", DTypeName(map->keys.dtype()), ", but the vocabulary is ",
                           DTypeName(op.type()));
  std::map<std::string, size_t> texts;
  std::map<int64_t, size_t> ints;
  const Tensor keys = map->keys.Contiguous();
  for (size_t i = 0; i < map->values.size(); ++i) {
    if (op.text())
      texts[keys.data<std::string>()[i]] = i;
    else
      ints[keys.data<int64_t>()[i]] = i;
  }
  Tensor& y = c.Out("y", {1, op.count()});
  for (size_t k = 0; k < static_cast<size_t>(op.count()); ++k) {
    const auto text = op.text() ? texts.find(op.texts[k]) : texts.end();
    const auto number = op.text() ? ints.end() : ints.find(op.ints[k]);
    if (text == texts.end() && number == ints.end()) continue;
    const Tensor& value = map->values[op.text() ? text->second : number->second].tensor;
    TERN_TRY(Put(value, y, static_cast<int64_t>(k)));
  }
  return {};
}

constexpr int64_t kMaxSparse = int64_t{1} << 24;

Status InferCast(const CastMap& op, InferContext& c) {
  if (op.sparse && (op.size < 1 || op.size > kMaxSparse))
    return InvalidModel("size is ", op.size, ", but must be from 1 to ", kMaxSparse);
  static const DType kTypes[] = {DType::kF32, DType::kString, DType::kI64};
  c.Out("y", kTypes[static_cast<int>(op.to)], Shape({1, op.sparse ? Dim(op.size) : Dim::Unknown()}));
  return {};
}

Status RunCast(const CastMap& op, EvalContext& c) {
  TERN_ASSIGN(const MapData* map, MapOf(c));
  if (map->keys.dtype() != DType::kI64)
    return InvalidArgument("keys must be i64, got ", DTypeName(map->keys.dtype()));
  const auto keys = ToLongs(map->keys);
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  if (!op.sparse && order.empty()) return InvalidArgument("the map is empty");
  Tensor& y = c.Out("y", {1, op.sparse ? op.size : static_cast<int64_t>(order.size())});
  if (y.dtype() == DType::kString && op.sparse)
    for (int64_t i = 0; i < y.size(); ++i)
      y.data<std::string>()[i] = "0.f";  // onnxruntime's value for an absent key
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t key = keys[order[i]];
    if (op.sparse && (key < 0 || key >= op.size))
      return InvalidArgument("key ", key, " is outside [0, ", op.size, "), the indices of the result");
    TERN_TRY(Put(map->values[order[i]].tensor, y, op.sparse ? key : static_cast<int64_t>(i)));
  }
  return {};
}

}  // namespace

TERN_OP(ZipMap) {
  return OpDef::Of<ZipMap>("each row of x as a map from labels to the numbers of the row")
      .In("x", SetOf(DType::kF32))
      .Out("maps", 0)
      .Traits(kPure | kHostOnly)
      .Infer(InferZip)
      .Reference(RunZip);
}

TERN_OP(DictVectorizer) {
  return OpDef::Of<DictVectorizer>(
             "a map's values in the order of the labels, which are keys; 0 or empty if the map has no such key")
      .In("map", 0)
      .Out("y", kAnyType)
      .Traits(kPure | kHostOnly)
      .Infer(InferDict)
      .Reference(RunDict);
}

TERN_OP(CastMap) {
  return OpDef::Of<CastMap>(
             "a map's values as a row, in the order of their keys or with their keys as indices")
      .In("map", 0)
      .Out("y", kAnyType)
      .Traits(kPure | kHostOnly)
      .Infer(InferCast)
      .Reference(RunCast);
}

}  // namespace tern
