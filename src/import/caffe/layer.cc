#include <algorithm>

#include "import/caffe/converter.h"
#include "import/caffe/net_importer.h"

namespace tern::caffe {
namespace {

Dims WithoutOnes(const Dims& dims) {
  Dims out;
  std::copy_if(dims.begin(), dims.end(), std::back_inserter(out), [](int64_t d) { return d != 1; });
  return out;
}

}  // namespace

Layer::Layer(NetImporter& importer, const pb::LayerParameter& layer, Builder& builder)
    : b(builder), proto(layer), importer_(importer) {}

Value* Layer::In(int i) const { return i < Bottoms() ? importer_.Find(proto.bottom(i)) : nullptr; }

void Layer::Out(int i, Value* value) {
  if (i < Tops()) importer_.Bind(proto.top(i), value);
}

Result<Dims> Layer::DimsOf(int i) const {
  const Shape& shape = In(i)->type.shape;
  if (!shape.ranked || !shape.fully_known())
    return NotYet("the dims of bottom '", proto.bottom(i), "' must be known, got ", shape.ToString());
  return shape.Concrete();
}

Result<int> Layer::RankOf(int i) const {
  const Shape& shape = In(i)->type.shape;
  if (!shape.ranked) return NotYet("the rank of bottom '", proto.bottom(i), "' must be known");
  return shape.rank();
}

Result<int> Layer::Axis(int i, int64_t axis) const {
  TERN_ASSIGN(const int rank, RankOf(i));
  return AxisIn(rank, axis);
}

Result<int> Layer::AxisIn(int rank, int64_t axis, bool end) const {
  const int64_t positive = axis < 0 ? axis + rank : axis;
  if (positive < 0 || positive > rank || (positive == rank && !end))
    return Bad("axis ", axis, " is outside a blob of ", rank, " axes");
  return static_cast<int>(positive);
}

int Layer::BlobCount() const {
  const auto* blobs = importer_.BlobsOf(proto.name());
  return blobs ? static_cast<int>(blobs->size()) : 0;
}

Result<Tensor> Layer::AnyBlob(int i) const { return importer_.BlobOf(proto, i); }

Result<Tensor> Layer::Blob(int i, const Dims& dims) const {
  TERN_ASSIGN(Tensor tensor, AnyBlob(i));
  const auto count = CheckedCount(dims, DType::kF32);
  if (!count || *count != tensor.size() || WithoutOnes(dims) != WithoutOnes(tensor.dims()))
    return Bad("blob #", i, " of the weights is [", Join(tensor.dims(), ","), "], but must be [",
               Join(dims, ","), "]");
  return tensor.Reshaped(dims);
}

Result<Value*> Layer::BlobValue(int i, const Dims& dims) const {
  TERN_ASSIGN(Tensor tensor, Blob(i, dims));
  return b.Const(std::move(tensor), StrCat(proto.name(), ".", i));
}

void Layer::Warn(std::string text) const { importer_.Warn(Describe() + ": " + std::move(text)); }

Status Layer::AddInput(int i, const Dims& dims) {
  if (i >= Tops()) return {};
  const auto count = CheckedCount(dims, DType::kF32);
  if (!count || std::find(dims.begin(), dims.end(), 0) != dims.end())
    return Bad("the dims of an input must be positive, got [", Join(dims, ","), "]");
  return importer_.AddInput(proto.top(i), Type::TensorOf(DType::kF32, Shape::Of(dims)));
}

std::string Layer::Describe() const { return StrCat("layer '", LayerLabel(proto), "' (", proto.type(), ")"); }

void ConverterTable::Add(const char* type, Converter converter, Arity arity) {
  const bool fresh = table_.emplace(type, Row{std::move(converter), arity}).second;
  TERN_CHECK(fresh, "two converters for ", type);
}

void ConverterTable::Refuse(const char* type, Converter converter) {
  Add(type, std::move(converter), {0, kAny, 0, kAny});
  table_[type].refused = true;
}

const ConverterTable::Row* ConverterTable::Find(const std::string& type) const {
  auto it = table_.find(type);
  return it == table_.end() ? nullptr : &it->second;
}

std::vector<std::string> ConverterTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, row] : table_)
    if (!row.refused) names.push_back(name);
  return names;
}

}  // namespace tern::caffe
