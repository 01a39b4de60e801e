// Converts lookup tables. Their contents are read at import.
#include <algorithm>

#include "import/tensorflow/body_importer.h"
#include "import/tensorflow/vocabulary.h"

namespace tern::tensorflow {
namespace {

Status NewTable(TfNode& n) {
  std::string shared = n.HasAttr("shared_name") ? n.Text("shared_name") : "";
  if (shared.empty()) shared = n.importer().prefix() + n.name();
  auto& resource = n.model().resources[StrCat("table:", shared)];
  if (!resource) {
    resource = std::make_shared<Resource>();
    resource->kind = Resource::Kind::kTable;
    resource->name = shared;
    TERN_ASSIGN(const DType keys, n.DTypeAttr("key_dtype"));
    TERN_ASSIGN(const DType values, n.DTypeAttr("value_dtype"));
    resource->dtype = keys;
    resource->otherwise = values == DType::kString ? Tensor::Strings({1}, {""}) : n.Numbers(values, {1}, {0});
  }
  Edge edge;
  edge.resource = resource;
  n.Out(0, edge);
  return {};
}

Result<Resource*> TableAt(TfNode& n) {
  const Edge& edge = n.At(0);
  if (!edge.resource || edge.resource->kind != Resource::Kind::kTable) return n.Bad("input 0 is not a table");
  return edge.resource.get();
}

Result<Resource*> FilledTable(TfNode& n) {
  TERN_ASSIGN(Resource * table, TableAt(n));
  if (!table->keys.defined()) TERN_TRY(n.importer().Initialise());
  if (!table->keys.defined()) return n.Bad("the table '", table->name, "' is not initialised");
  return table;
}

Status Initialise(TfNode& n) {
  TERN_ASSIGN(Resource * table, TableAt(n));
  const Tensor *keys = n.Constant(1), *values = n.Constant(2);
  if (!keys || !values) return n.NotYet("the keys and values are not constants");
  if (keys->size() != values->size())
    return n.Bad("there are ", keys->size(), " keys, but ", values->size(), " values");
  table->keys = keys->Contiguous().Reshaped({keys->size()});
  table->values = values->Contiguous().Reshaped({values->size()});
  return {};
}

Status InitialiseFromFile(TfNode& n) {
  TERN_ASSIGN(Resource * table, TableAt(n));
  const Tensor* file = n.Constant(1);
  if (!file || file->dtype() != DType::kString || file->size() != 1)
    return n.NotYet("the name of the file is not a constant");
  const std::string path = ToStrings(*file)[0];
  // Only files that belong to the model are read.
  const auto& assets = n.model().assets;
  if (std::none_of(assets.begin(), assets.end(), [&](const auto& a) { return a.second == path; }))
    return n.NotYet("the file '", path, "' is not an asset of the model");
  Vocabulary v{n.Int("key_index"), n.Int("value_index"), n.Int("vocab_size"),
               n.HasAttr("offset") ? n.Int("offset") : 0, n.Text("delimiter")};
  TERN_ASSIGN(auto contents, ReadVocabulary(path, v, table->dtype, table->otherwise.dtype()));
  table->keys = std::move(contents.first);
  table->values = std::move(contents.second);
  return {};
}

Status Find(TfNode& n) {
  TERN_ASSIGN(Resource * table, FilledTable(n));
  const Tensor* otherwise = n.Constant(2);
  if (!otherwise || otherwise->size() != 1) return n.NotYet("the default value is not a constant");
  Value* x = n.In(1);
  if (x->type.dtype != table->keys.dtype())
    return n.Bad("the keys are ", DTypeName(x->type.dtype), ", but those of the table are ",
                 DTypeName(table->keys.dtype()));
  n.Out(0, n.b.Op("LabelEncoder", {x},
                  {{"keys", table->keys},
                   {"values", table->values},
                   {"otherwise", otherwise->Contiguous().Reshaped({1})}}));
  return {};
}

Status TableSize(TfNode& n) {
  TERN_ASSIGN(Resource * table, FilledTable(n));
  n.Out(0, n.b.Scalar(DType::kI64, static_cast<double>(table->keys.size())));
  return {};
}

Status Export(TfNode& n) {
  TERN_ASSIGN(Resource * table, FilledTable(n));
  n.Out(0, n.b.Const(table->keys));
  n.Out(1, n.b.Const(table->values));
  return {};
}

}  // namespace

TERN_CONVERTERS(table) {
  for (const char* op :
       {"HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2", "AnonymousHashTable"})
    table.Add(op, NewTable);
  for (const char* op : {"InitializeTable", "InitializeTableV2", "LookupTableImport", "LookupTableImportV2"})
    table.Add(op, Initialise);
  for (const char* op : {"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"})
    table.Add(op, InitialiseFromFile);
  for (const char* op : {"LookupTableFind", "LookupTableFindV2"}) table.Add(op, Find);
  for (const char* op : {"LookupTableSize", "LookupTableSizeV2"}) table.Add(op, TableSize);
  for (const char* op : {"LookupTableExport", "LookupTableExportV2"}) table.Add(op, Export);
}

}  // namespace tern::tensorflow
