// Exports ops of ai.onnx.ml: linear models, support vector machines, look-ups and maps.
#include <algorithm>
#include <cmath>
#include <map>

#include "export/onnx/ops/attr_values.h"

namespace tern::onnx {
namespace {

AttrList SvmAttrs(const TernNode& n) {
  const Attrs& a = n.attrs();
  return {{"kernel_type", Upper(a.Text("kernel"))},
          {"kernel_params", std::vector<double>{a.Float("gamma"), a.Float("coef0"), a.Float("degree")}},
          {"support_vectors", Doubles(n, "vectors")},
          {"coefficients", Doubles(n, "coefficients")},
          {"rho", Doubles(n, "rho")}};
}

Status SvmRegressor(TernNode& n) {
  AttrList attrs = SvmAttrs(n);
  attrs.insert(attrs.end(),
               {{"n_supports", n.attrs().Int("supports")}, {"one_class", n.attrs().Bool("one_class")}});
  n.Emit("SVMRegressor", n.Ins(), n.Outs(), WithoutEmpty(attrs), kMl);
  return {};
}

Status SvmClassifier(TernNode& n) {
  AttrList attrs = SvmAttrs(n);
  attrs.insert(attrs.end(), {{"classlabels_ints", n.attrs().Ints("label_ints")},
                             {"classlabels_strings", Texts(n, "label_texts")},
                             {"vectors_per_class", n.attrs().Ints("per_class")},
                             {"prob_a", Doubles(n, "prob_a")},
                             {"prob_b", Doubles(n, "prob_b")},
                             {"post_transform", Upper(n.attrs().Text("transform"))}});
  std::vector<std::string> outputs = n.Outs();
  if (outputs.size() < 2) outputs.push_back(n.Temp());
  n.Emit("SVMClassifier", n.Ins(), outputs, WithoutEmpty(attrs), kMl);
  return {};
}

Status LinearClassifier(TernNode& n) {
  const AttrList attrs = {{"classlabels_ints", n.attrs().Ints("label_ints")},
                          {"classlabels_strings", Texts(n, "label_texts")},
                          {"coefficients", Doubles(n, "coefficients")},
                          {"intercepts", Doubles(n, "intercepts")},
                          {"post_transform", Upper(n.attrs().Text("transform"))}};
  std::vector<std::string> outputs = n.Outs();
  if (outputs.size() < 2) outputs.push_back(n.Temp());
  n.Emit("LinearClassifier", n.Ins(), outputs, WithoutEmpty(attrs), kMl);
  return {};
}

Status Normalizer(TernNode& n) {
  n.Emit("Normalizer", n.Ins(), n.Outs(), {{"norm", Upper(n.attrs().Text("norm"))}}, kMl);
  return {};
}

// Adds t to `attrs`. The attribute is NAME_tensor if as_tensor is true. Otherwise it is the list
// NAME_strings, NAME_int64s or NAME_floats.
void AddColumn(const std::string& name, const Tensor& t, bool as_tensor, AttrList& attrs) {
  if (as_tensor)
    attrs.emplace_back(name + "_tensor", t);
  else if (t.dtype() == DType::kString)
    attrs.emplace_back(name + "_strings", ToStrings(t));
  else if (t.dtype() == DType::kI64)
    attrs.emplace_back(name + "_int64s", ToLongs(t));
  else
    attrs.emplace_back(name + "_floats", ToDoubles(t));
}

bool HasList(DType t) { return t == DType::kString || t == DType::kI64 || t == DType::kF32; }

// Returns a text that identifies the value of a key. All NaNs have the same text, and so do -0 and +0, as in
// Tern's LabelEncoder.
std::string KeyText(const Tensor& keys, int64_t i) {
  if (keys.dtype() == DType::kString) return keys.data<std::string>()[i];
  if (!IsFloat(keys.dtype())) return StrCat(LoadLong(keys, i));
  const double v = LoadDouble(keys, i);
  return std::isnan(v) ? "nan" : StrCat(v + 0.0);
}

// Returns the index of the last entry of each distinct key. If a key occurs several times, Tern uses the last
// entry, but some ONNX runtimes use another entry. Therefore only the last entry is exported.
std::vector<int64_t> LastOfEach(const Tensor& keys) {
  std::map<std::string, int64_t> last;
  for (int64_t i = 0; i < keys.size(); ++i) last[KeyText(keys, i)] = i;
  std::vector<int64_t> kept;
  for (const auto& [text, i] : last) kept.push_back(i);
  std::sort(kept.begin(), kept.end());
  return kept;
}

Tensor Picked(const Tensor& t, const std::vector<int64_t>& rows) {
  Tensor out(t.dtype(), {static_cast<int64_t>(rows.size())});
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (t.dtype() == DType::kString)
      out.data<std::string>()[i] = t.data<std::string>()[rows[i]];
    else if (IsFloat(t.dtype()))
      StoreDouble(out, at, LoadDouble(t, rows[i]));
    else
      StoreLong(out, at, LoadLong(t, rows[i]));
  }
  return out;
}

Status LabelEncoder(TernNode& n) {
  if (n.attrs().Bool("strict")) return n.NotExportable("a lookup that fails on unknown keys (strict)");
  Tensor keys = TensorOf(n, "keys").Contiguous(), values = TensorOf(n, "values").Contiguous();
  const Tensor otherwise = TensorOf(n, "otherwise");
  const auto kept = LastOfEach(keys);
  keys = Picked(keys, kept);
  values = Picked(values, kept);
  const bool tensors = !HasList(keys.dtype()) || !HasList(values.dtype());
  if (tensors) n.NeedMlOpset(4);
  AttrList attrs;
  AddColumn("keys", keys, tensors, attrs);
  AddColumn("values", values, tensors, attrs);
  if (tensors)
    attrs.emplace_back("default_tensor", otherwise.Reshaped({1}));
  else if (values.dtype() == DType::kString)
    attrs.emplace_back("default_string", ToStrings(otherwise)[0]);
  else if (values.dtype() == DType::kI64)
    attrs.emplace_back("default_int64", ToLongs(otherwise)[0]);
  else
    attrs.emplace_back("default_float", ToDoubles(otherwise)[0]);
  n.Emit("LabelEncoder", n.Ins(), n.Outs(), attrs, kMl);
  return {};
}

Status ZipMap(TernNode& n) {
  n.Emit("ZipMap", n.Ins(), n.Outs(),
         WithoutEmpty({{"classlabels_int64s", n.attrs().Ints("label_ints")},
                       {"classlabels_strings", Texts(n, "label_texts")}}),
         kMl);
  return {};
}

Status DictVectorizer(TernNode& n) {
  n.Emit("DictVectorizer", n.Ins(), n.Outs(),
         WithoutEmpty({{"int64_vocabulary", n.attrs().Ints("label_ints")},
                       {"string_vocabulary", Texts(n, "label_texts")}}),
         kMl);
  return {};
}

Status CastMap(TernNode& n) {
  const std::string to = n.attrs().Text("to");
  const char* cast = to == "f32" ? "TO_FLOAT" : to == "i64" ? "TO_INT64" : "TO_STRING";
  n.Emit("CastMap", n.Ins(), n.Outs(),
         {{"cast_to", cast},
          {"map_form", n.attrs().Bool("sparse") ? "SPARSE" : "DENSE"},
          {"max_map", n.attrs().Int("size")}},
         kMl);
  return {};
}

}  // namespace

TERN_EXPORTERS(ml) {
  table.Add("SVMRegressor", SvmRegressor);
  table.Add("SVMClassifier", SvmClassifier);
  table.Add("LinearClassifier", LinearClassifier);
  table.Add("Normalizer", Normalizer);
  table.Add("LabelEncoder", LabelEncoder);
  table.Add("ZipMap", ZipMap);
  table.Add("DictVectorizer", DictVectorizer);
  table.Add("CastMap", CastMap);
}

}  // namespace tern::onnx
