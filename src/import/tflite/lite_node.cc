#include "import/tflite/graph_importer.h"

namespace tern::tflite {

LiteNode::LiteNode(GraphImporter& importer, const fb::Operator& op, std::string name, Builder& builder)
    : b(builder), importer_(importer), op_(op), name_(std::move(name)) {}

int LiteNode::InputCount() const { return op_.inputs() ? static_cast<int>(op_.inputs()->size()) : 0; }
int LiteNode::OutputCount() const { return op_.outputs() ? static_cast<int>(op_.outputs()->size()) : 0; }

int LiteNode::Tensor_(const flatbuffers::Vector<int32_t>* list, int i) const {
  return list && i >= 0 && i < static_cast<int>(list->size()) ? list->Get(static_cast<uint32_t>(i)) : -1;
}

bool LiteNode::Has(int input) const { return Tensor_(op_.inputs(), input) >= 0; }
int LiteNode::TensorOf(int input) const { return Tensor_(op_.inputs(), input); }

const TensorInfo& LiteNode::InfoIn(int i) const { return InfoAt(op_.inputs(), i); }
const TensorInfo& LiteNode::InfoOut(int i) const { return InfoAt(op_.outputs(), i); }

const TensorInfo& LiteNode::InfoAt(const flatbuffers::Vector<int32_t>* list, int i) const {
  static const TensorInfo kNone;
  const int tensor = Tensor_(list, i);
  return tensor < 0 ? kNone : importer_.info(tensor);
}

Value* LiteNode::In(int i, Layout layout) { return importer_.Stored(TensorOf(i), layout, b); }
Value* LiteNode::Real(int i, Layout layout) { return importer_.Real(TensorOf(i), layout, b); }
Layout LiteNode::LayoutOf(int i) const { return importer_.LayoutOf(TensorOf(i)); }

Value* LiteNode::RealPermuted(int i, const std::vector<int64_t>& perm) {
  const TensorInfo& info = InfoIn(i);
  Value* stored = In(i);
  if (stored->type.shape.rank() != static_cast<int>(perm.size())) {
    b.Fail(Bad("input ", i, " must have ", perm.size(), " dims, got ", stored->type.ToString()));
    return stored;
  }
  if (stored->type.dtype == DType::kString) {
    b.Fail(Bad("input ", i, " must contain numbers, got ", stored->type.ToString()));
    return stored;
  }
  Value* v = nullptr;
  if (stored->is_constant())
    v = b.Const(Permuted(Widened(stored->constant), perm), stored->name);
  else
    v = Transposed(b, stored, perm);
  if (!info.quantized) return v;
  int axis = 0;
  while (static_cast<size_t>(axis) < perm.size() && perm[static_cast<size_t>(axis)] != info.quant.axis)
    ++axis;
  return importer_.Dequantize(v, info, axis, b);
}

void LiteNode::Out(int i, Value* value, Layout layout) {
  if (const int t = Tensor_(op_.outputs(), i); t >= 0) importer_.SetStored(t, value, layout, b);
}

void LiteNode::OutReal(int i, Value* value, Layout layout) {
  if (const int t = Tensor_(op_.outputs(), i); t >= 0) importer_.SetReal(t, value, layout, b);
}

void LiteNode::OutResource(int i, int resource) {
  if (const int t = Tensor_(op_.outputs(), i); t >= 0) importer_.SetResource(t, resource);
}

const Tensor* LiteNode::Constant(int i) {
  Value* v = Has(i) ? In(i) : nullptr;
  return v && v->is_constant() ? &v->constant : nullptr;
}

std::optional<std::vector<int64_t>> LiteNode::Longs(int i) {
  const auto dims = Dims(i);
  if (!dims) return std::nullopt;
  std::vector<int64_t> out;
  for (const Dim& d : *dims) {
    if (!d.known()) return std::nullopt;
    out.push_back(d.value());
  }
  return out;
}

std::optional<std::vector<Dim>> LiteNode::Dims(int i) {
  const Tensor* t = Constant(i);
  if (!t) return Has(i) ? In(i)->content : std::nullopt;
  if (!IsInt(t->dtype())) return std::nullopt;
  std::vector<Dim> out;
  for (int64_t v : ToLongs(*t)) out.emplace_back(v);
  return out;
}

const void* LiteNode::OptionsOfType(int type) const {
  return static_cast<int>(op_.builtin_options_type()) == type ? op_.builtin_options() : nullptr;
}

const void* LiteNode::Options2OfType(int type) const {
  return static_cast<int>(op_.builtin_options_2_type()) == type ? op_.builtin_options_2() : nullptr;
}

// A flatbuffer with a table that has no fields. If the table is read as a table of any type, each field has
// its default.
const void* LiteNode::EmptyTable() {
  alignas(8) static const uint8_t kBytes[] = {4, 0, 4, 0,
                                              4, 0, 0, 0};  // a vtable of size 4, then a table at distance 4
  return kBytes + 4;
}

Value* LiteNode::Activate(Value* v, int activation) {
  const auto clip = [&](double low, double high) {
    return b.Op("Clip", {v, b.Scalar(v->type.dtype, low), b.Scalar(v->type.dtype, high)});
  };
  switch (activation) {
    case 0:
      return v;
    case 1:
      return b.Op("Unary", {v}, {{"kind", "relu"}});
    case 2:
      return clip(-1, 1);
    case 3:
      return clip(0, 6);
    case 4:
      return b.Op("Unary", {v}, {{"kind", "tanh"}});
    default:
      b.Fail(NotYet("activation function #", activation));
      return v;
  }
}

std::string LiteNode::Describe() const {
  const int first = Tensor_(op_.outputs(), 0);
  return StrCat("operator '", first >= 0 ? importer_.info(first).name : "", "' (", name_, ")");
}

void ConverterTable::Add(const char* op, int inputs, std::function<Status(LiteNode&)> convert) {
  const bool fresh = table_.emplace(op, Converter{std::move(convert), inputs}).second;
  TERN_CHECK(fresh, "two converters for ", op);
}

const Converter* ConverterTable::Find(const std::string& op) const {
  const auto it = table_.find(op);
  return it == table_.end() ? nullptr : &it->second;
}

std::vector<std::string> ConverterTable::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, converter] : table_) names.push_back(name);
  return names;
}

void CollectConverters(ConverterTable& table);

const ConverterTable& Converters() {
  static const ConverterTable* const table = [] {
    auto* t = new ConverterTable;  // never deleted, so that it may be used while the program exits
    CollectConverters(*t);
    return t;
  }();
  return *table;
}

}  // namespace tern::tflite
