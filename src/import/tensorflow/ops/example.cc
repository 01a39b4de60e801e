// Converts the operators that read tf.Example records.
#include "import/tensorflow/converter.h"
#include "import/tensorflow/proto_tensor.h"

namespace tern::tensorflow {
namespace {

// The dense features of a ParseExample node, and the inputs with their defaults.
struct DenseFeatures {
  std::vector<std::string> keys;
  int first_default = 0;
};

Result<std::string> KeyOf(TfNode& n, int input) {
  const Tensor* key = n.Constant(input);
  if (!key || key->dtype() != DType::kString || key->size() != 1)
    return n.NotYet("the name of a feature is not a constant");
  return ToStrings(*key)[0];
}

Result<DType> TypeOf(TfNode& n, const pb::AttrValue& types, int i) {
  auto dtype = DTypeOf(types.list().type(i));
  if (!dtype.ok()) return n.NotYet(dtype.status().message());
  return dtype;
}

Result<std::vector<int64_t>> ShapeOf(TfNode& n, const std::string& key, const pb::AttrValue& shapes, int i) {
  if (i >= shapes.list().shape_size()) return n.Bad("dense_shapes is shorter than Tdense");
  auto dims = DimsOf(shapes.list().shape(i));
  if (!dims.ok()) return n.NotYet("feature '", key, "' has no fixed shape");
  return std::vector<int64_t>(dims->begin(), dims->end());
}

// Emits one op per feature. An empty default means that the feature is required.
Status AddFeatures(TfNode& n, const DenseFeatures& dense, int first_output) {
  const pb::AttrValue* types = n.Raw("Tdense");
  const pb::AttrValue* shapes = n.Raw("dense_shapes");
  const int count = static_cast<int>(dense.keys.size());
  if (!types || types->list().type_size() != count || !shapes)
    return n.Bad("Tdense and dense_shapes must have one element for each of the ", count, " dense features");
  for (int i = 0; i < count; ++i) {
    const std::string& key = dense.keys[static_cast<size_t>(i)];
    TERN_ASSIGN(const DType to, TypeOf(n, *types, i));
    TERN_ASSIGN(const std::vector<int64_t> shape, ShapeOf(n, key, *shapes, i));
    std::vector<Value*> inputs{n.In(0)};
    Value* standard = n.In(dense.first_default + i);
    const Tensor* known = n.Constant(dense.first_default + i);
    if (!known) return n.NotYet("the default of feature '", key, "' is not a constant");
    if (known->size() > 0) inputs.push_back(standard);
    n.Out(first_output + i, n.Op("ExampleFeature", inputs, {{"key", key}, {"to", to}, {"shape", shape}}));
  }
  return {};
}

// Inputs: serialized, names, sparse_keys…, dense_keys…, dense_defaults….
Status ParseExample(TfNode& n) {
  const int64_t sparse = n.Int("Nsparse"), count = n.Int("Ndense");
  if (sparse > 0) return n.NotYet("sparse features");
  if (count < 0 || count > n.InputCount()) return n.Bad("Ndense is ", count);
  DenseFeatures dense;
  for (int i = 0; i < static_cast<int>(count); ++i) {
    TERN_ASSIGN(std::string key, KeyOf(n, 2 + i));
    dense.keys.push_back(std::move(key));
  }
  dense.first_default = 2 + static_cast<int>(count);
  return AddFeatures(n, dense, 0);
}

// Inputs: serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults….
Status ParseExampleV2(TfNode& n) {
  if (n.Int("num_sparse") > 0) return n.NotYet("sparse features");
  const Tensor* ragged = n.Constant(4);
  if (!ragged || ragged->size() > 0) return n.NotYet("ragged features");
  const Tensor* keys = n.Constant(3);
  if (!keys || keys->dtype() != DType::kString) return n.NotYet("the names of features are not constants");
  DenseFeatures dense;
  dense.keys = ToStrings(*keys);
  dense.first_default = 5;
  return AddFeatures(n, dense, 0);
}

}  // namespace

TERN_CONVERTERS(example) {
  table.Add("ParseExample", ParseExample);
  table.Add("ParseExampleV2", ParseExampleV2);
}

}  // namespace tern::tensorflow
