// Converts the feature operators of ai.onnx.ml: scaling, encoding, look-up, maps.
#include <algorithm>
#include <cmath>

#include "import/onnx/ops/emit.h"
#include "import/onnx/ops/ml_attrs.h"

namespace tern::onnx {
namespace {

Value* Row(OnnxNode& n, DType type, const std::vector<float>& v) {
  return n.b.Const(Tensor::Of(type, {static_cast<int64_t>(v.size())}, {v.begin(), v.end()}));
}

Status Scaler(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  const auto offset = n.Floats("offset"), scale = n.Floats("scale");
  if (offset.empty() || offset.size() != scale.size())
    return n.Bad("offset has ", offset.size(), " entries, but scale has ", scale.size());
  Value* x = ToF32(n, n.In(0));
  n.Out(0, Binary(n, "mul", Binary(n, "sub", x, Row(n, DType::kF32, offset)), Row(n, DType::kF32, scale)));
  return {};
}

Status Binarizer(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  const DType type = n.TypeOf(0);
  Value* x = IsInt(type) ? n.b.Op("Cast", {n.In(0)}, {{"to", DType::kF64}}) : n.In(0);
  Value* above = Binary(n, "greater", x, n.b.Scalar(x->type.dtype, n.Float("threshold")));
  n.Out(0, n.b.Op("Cast", {above}, {{"to", type}}));
  return {};
}

Status Imputer(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  const DType type = n.TypeOf(0);
  const auto floats = n.Floats("imputed_value_floats");
  const auto ints = n.Ints("imputed_value_int64s");
  if (IsInt(type) ? ints.empty() : floats.empty())
    return n.Bad("there are no imputed values of the input's kind");
  Value* fill =
      IsInt(type)
          ? n.b.Const(Tensor::Of(type, {static_cast<int64_t>(ints.size())}, {ints.begin(), ints.end()}))
          : Row(n, type, floats);
  const Shape& shape = n.In(0)->type.shape;
  if (shape.ranked && shape.rank() > 0 && shape[-1].known() && !fill->type.shape[0].Is(1) &&
      fill->type.shape[0] != shape[-1]) {
    // The number of imputed values is not the number of features, so the first value is used for all
    // features.
    fill = n.b.Op("Slice", {fill, n.b.Ints({0}), n.b.Ints({1})});
  }
  Value* missing = nullptr;
  if (IsFloat(type) && std::isnan(n.Float("replaced_value_float")))
    missing = n.b.Op("Unary", {n.In(0)}, {{"kind", std::string("isnan")}});
  else
    missing = Binary(n, "equal", n.In(0),
                     n.b.Scalar(type, IsInt(type) ? static_cast<double>(n.Int("replaced_value_int64"))
                                                  : n.Float("replaced_value_float")));
  n.Out(0, n.b.Op("Where", {missing, fill, n.In(0)}));
  return {};
}

Status Normalizer(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs));
  const std::string norm = n.Text("norm", "MAX");
  if (norm != "MAX" && norm != "L1" && norm != "L2") return n.Bad("norm '", norm, "' must be MAX, L1 or L2");
  n.Out(0, n.b.Op("Normalizer", {n.In(0)}, {{"norm", LowerCase(norm)}}));
  return {};
}

constexpr int64_t kMaxColumns = int64_t{1} << 26;

// Emits x, truncated or padded with zeros to `count` columns.
Value* WithColumns(OnnxNode& n, Value* x, int64_t count) {
  if (x->type.shape.ranked && x->type.shape[1].Is(count)) return x;
  Value* cut = n.b.Op("Slice", {x, n.b.Ints({0}), n.b.Ints({count}), n.b.Ints({1})});
  Value* width = n.b.Op("Shape", {cut}, {{"start", int64_t{1}}, {"end", int64_t{2}}});
  Value* missing = Binary(n, "sub", n.b.Ints({count}), width);
  Value* pads = n.b.Op("Concat", {n.b.Ints({0, 0, 0}), missing}, {{"axis", int64_t{0}}});
  return n.b.Op("Pad", {cut, pads});
}

Status FeatureVectorizer(OnnxNode& n) {
  const auto sizes = n.Ints("inputdimensions");
  if (static_cast<int>(sizes.size()) != n.InputCount())
    return n.Bad("inputdimensions has ", sizes.size(), " entries, but there are ", n.InputCount(), " inputs");
  std::vector<Value*> parts;
  for (int i = 0; i < n.InputCount(); ++i) {
    TERN_TRY(Require(n, i, kMlInputs));
    if (n.RankOf(i) < 1) return n.NotYet("input ", i, " of unknown rank or rank 0");
    if (sizes[static_cast<size_t>(i)] < 0 || sizes[static_cast<size_t>(i)] > kMaxColumns)
      return n.Bad("inputdimensions must be 0 to ", kMaxColumns, ", got ", sizes[static_cast<size_t>(i)]);
    Value* x = ToF32(n, n.In(i));
    x = n.RankOf(i) == 1 ? n.b.Op("Unsqueeze", {x, n.b.Ints({0})})
                         : n.b.Op("Flatten", {x}, {{"axis", int64_t{1}}});
    parts.push_back(WithColumns(n, x, sizes[static_cast<size_t>(i)]));
  }
  if (parts.empty()) return n.Bad("there are no inputs");
  n.Out(0, n.b.Op("Concat", parts, {{"axis", int64_t{1}}}));
  return {};
}

Status ArrayFeatureExtractor(OnnxNode& n) {
  if (!n.Has(0) || !n.Has(1)) return n.Bad("an input is missing");
  const int rank = n.RankOf(0);
  if (rank < 1) return n.NotYet("an input of unknown rank or rank 0");
  Value* x = rank == 1 ? n.b.Op("Unsqueeze", {n.In(0), n.b.Ints({0})}) : n.In(0);
  n.Out(0, n.b.Op("Gather", {x, n.b.Op("Reshape", {n.In(1), n.b.Ints({-1})})}, {{"axis", int64_t{-1}}}));
  return {};
}

Tensor Texts(const std::vector<std::string>& v) {
  return Tensor::Strings({static_cast<int64_t>(v.size())}, v);
}
Tensor Floats(const std::vector<float>& v) {
  return Tensor::Of(DType::kF32, {static_cast<int64_t>(v.size())}, {v.begin(), v.end()});
}
Tensor OneLong(int64_t v) { return Tensor::Ints({v}); }

Status Encode(OnnxNode& n, Tensor keys, Tensor values, Tensor otherwise) {
  n.Out(0,
        n.b.Op(
            "LabelEncoder", {n.In(0)},
            {{"keys", std::move(keys)}, {"values", std::move(values)}, {"otherwise", std::move(otherwise)}}));
  return {};
}

Status CategoryMapper(OnnxNode& n) {
  const Tensor texts = Texts(n.Texts("cats_strings")), ints = Tensor::Ints(n.Ints("cats_int64s"));
  if (n.TypeOf(0) == DType::kString) return Encode(n, texts, ints, OneLong(n.Int("default_int64", -1)));
  return Encode(n, ints, texts, Texts({n.Text("default_string", "_Unused")}));
}

// Reads a list from the attribute NAME_tensor, NAME_strings, NAME_int64s or NAME_floats, whichever is
// present. `name` is "keys" or "values".
Result<Tensor> Column(const OnnxNode& n, const std::string& name) {
  if (n.HasAttr(name + "_tensor")) {
    TERN_ASSIGN(Tensor t, n.TensorAttr(name + "_tensor"));
    if (t.rank() != 1) return t.Contiguous().Reshaped({t.size()});
    return t;
  }
  if (n.HasAttr(name + "_strings")) return Texts(n.Texts(name + "_strings"));
  if (n.HasAttr(name + "_int64s")) return Tensor::Ints(n.Ints(name + "_int64s"));
  if (n.HasAttr(name + "_floats")) return Floats(n.Floats(name + "_floats"));
  return n.Bad("none of the attributes ", name, "_* is present");
}

Result<Tensor> Default(const OnnxNode& n, DType type) {
  if (n.HasAttr("default_tensor")) {
    TERN_ASSIGN(Tensor t, n.TensorAttr("default_tensor"));
    return t;
  }
  if (type == DType::kString) return Texts({n.Text("default_string", "_Unused")});
  if (IsFloat(type)) return Tensor::Of(type, {1}, {n.Float("default_float", -0.0f)});
  if (!IsInt(type) && type != DType::kBool) return n.NotYet("values of type ", DTypeName(type));
  Tensor t(type, {1});
  StoreLong(t, 0, n.Int("default_int64", -1));
  return t;
}

// Converts version 1 of LabelEncoder, which maps class names to their indices, or indices to class names.
Status LabelEncoder1(OnnxNode& n) {
  const auto classes = n.Texts("classes_strings");
  std::vector<int64_t> numbers(classes.size());
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  if (n.TypeOf(0) == DType::kString)
    return Encode(n, Texts(classes), Tensor::Ints(numbers), OneLong(n.Int("default_int64", -1)));
  return Encode(n, Tensor::Ints(numbers), Texts(classes), Texts({n.Text("default_string", "_Unused")}));
}

Status LabelEncoder(OnnxNode& n) {
  if (n.opset < 2 || n.HasAttr("classes_strings")) return LabelEncoder1(n);
  TERN_ASSIGN(Tensor keys, Column(n, "keys"));
  TERN_ASSIGN(Tensor values, Column(n, "values"));
  TERN_ASSIGN(Tensor otherwise, Default(n, values.dtype()));
  return Encode(n, std::move(keys), std::move(values), std::move(otherwise));
}

// Maps each element to the index of its category, then to a one-hot row. An unknown category becomes a row of
// zeros.
Status OneHotEncoder(OnnxNode& n) {
  TERN_TRY(Require(n, 0, kMlInputs | kStrings));
  const bool text = n.TypeOf(0) == DType::kString;
  const Tensor keys = text ? Texts(n.Texts("cats_strings")) : Tensor::Ints(n.Ints("cats_int64s"));
  const int64_t count = keys.size();
  if (count == 0) return n.Bad("there are no categories for ", DTypeName(n.TypeOf(0)), " inputs");
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  Value* x = text || n.TypeOf(0) == DType::kI64 ? n.In(0) : n.b.Op("Cast", {n.In(0)}, {{"to", DType::kI64}});
  Value* place = n.b.Op("LabelEncoder", {x},
                        {{"keys", keys},
                         {"values", Tensor::Ints(numbers)},
                         {"otherwise", OneLong(count)},
                         {"strict", n.Int("zeros", 1) == 0}});
  n.Out(0, n.b.Op("OneHot", {place, n.b.Ints({count}), n.b.Const(Tensor::Of(DType::kF32, {2}, {0, 1}))},
                  {{"axis", int64_t{-1}}}));
  return {};
}

Status ZipMap(OnnxNode& n) {
  n.Out(0, n.b.Op("ZipMap", {n.In(0)},
                  {{"label_ints", n.Ints("classlabels_int64s")},
                   {"label_texts", n.Texts("classlabels_strings")}}));
  return {};
}

Status DictVectorizer(OnnxNode& n) {
  n.Out(0,
        n.b.Op("DictVectorizer", {n.In(0)},
               {{"label_ints", n.Ints("int64_vocabulary")}, {"label_texts", n.Texts("string_vocabulary")}}));
  return {};
}

Status CastMap(OnnxNode& n) {
  const std::string to = n.Text("cast_to", "TO_FLOAT"), form = n.Text("map_form", "DENSE");
  const char* type = to == "TO_FLOAT"    ? "f32"
                     : to == "TO_STRING" ? "string"
                     : to == "TO_INT64"  ? "i64"
                                         : nullptr;
  if (!type || (form != "DENSE" && form != "SPARSE"))
    return n.Bad("cast_to must be TO_FLOAT, TO_STRING or TO_INT64, and map_form DENSE or SPARSE, got '", to,
                 "' and '", form, "'");
  n.Out(0, n.b.Op("CastMap", {n.In(0)},
                  {{"to", std::string(type)}, {"sparse", form == "SPARSE"}, {"size", n.Int("max_map", 1)}}));
  return {};
}

}  // namespace

TERN_CONVERTERS(ml_features) {
  table.Add("Scaler", Scaler, kMl);
  table.Add("Binarizer", Binarizer, kMl);
  table.Add("Imputer", Imputer, kMl);
  table.Add("Normalizer", Normalizer, kMl);
  table.Add("FeatureVectorizer", FeatureVectorizer, kMl);
  table.Add("ArrayFeatureExtractor", ArrayFeatureExtractor, kMl);
  table.Add("CategoryMapper", CategoryMapper, kMl);
  table.Add("LabelEncoder", LabelEncoder, kMl);
  table.Add("OneHotEncoder", OneHotEncoder, kMl);
  table.Add("ZipMap", ZipMap, kMl);
  table.Add("DictVectorizer", DictVectorizer, kMl);
  table.Add("CastMap", CastMap, kMl);
}

}  // namespace tern::onnx
