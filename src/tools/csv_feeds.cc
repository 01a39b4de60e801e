#include "tools/csv_feeds.h"

#include <algorithm>
#include <cstdio>

#include "data/csv.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

Status WhileReading(Status status, const Value& input, const InputFile& file) {
  return std::move(status).While(StrCat("reading input '", input.name, "' from '", file.path, "'"));
}

// Returns the product of all dims except the first. Returns nullopt if one of these dims is open.
std::optional<int64_t> ItemSize(const Shape& shape) {
  int64_t size = 1;
  for (size_t i = 1; i < shape.dims.size(); ++i)
    if (!shape.dims[i].known() || __builtin_mul_overflow(size, shape.dims[i].value(), &size))
      return std::nullopt;
  return size;
}

Tensor FitTable(const Tensor& t, const Shape& shape) {
  if (!shape.ranked || shape.rank() == 2) return t;
  const bool one_line = t.dim(0) == 1 || t.dim(1) == 1;
  if (shape.rank() < 2)
    return one_line && (shape.rank() == 1 || t.size() == 1)
               ? t.Reshaped(shape.rank() == 1 ? Dims{t.size()} : Dims{})
               : t;
  if (const auto item = ItemSize(shape); item && *item == t.dim(1)) {
    Dims dims{t.dim(0)};
    for (size_t i = 1; i < shape.dims.size(); ++i) dims.push_back(shape.dims[i].value());
    return t.Reshaped(dims);
  }
  return FitShape(t.Reshaped({t.size()}), shape);
}

bool HasInput(const Graph& graph, const std::string& name) { return FindInput(graph, name).ok(); }

// Parses a table with a header. The first row is a header if it contains the name of an input. ParseCsv
// cannot detect such a header, because the other rows may be text too.
Result<data::CsvTable> NamedTable(const Graph& graph, const InputFile& file) {
  TERN_ASSIGN(data::CsvTable table, data::ParseCsv(file.text, /*numbers=*/false));
  const auto known = [&](const std::string& name) { return HasInput(graph, name); };
  if (!table.rows.empty() && std::any_of(table.rows[0].begin(), table.rows[0].end(), known)) {
    data::TakeHeader(table);
    return table;
  }
  std::vector<std::string> names;
  for (const Value* v : graph.inputs()) names.push_back(v->name);
  return InvalidArgument("the header names none of the model's inputs, which are: ", Join(names, ", "));
}

// Returns a column as a tensor for an input [N,1], [N] or []. Models converted from scikit-learn pipelines on
// data frames have one input [N,1] per column.
Result<Tensor> ColumnInput(const data::CsvTable& table, size_t column, const Value& input) {
  const Shape& shape = input.type.shape;
  const bool one_column = shape.rank() < 2 || (shape.rank() == 2 && !(shape[1].known() && !shape[1].Is(1)));
  if (!input.type.tensor() || !one_column)
    return InvalidArgument("the input is ", input.type.ToString(),
                           ", but a column can only be [N,1], [N] or []");
  TERN_ASSIGN(const Tensor t, data::CsvColumn(table, column, input.type.dtype));
  return FitTable(t, shape);
}

void SayIgnored(const std::vector<std::string>& names, const InputFile& file) {
  if (!names.empty())
    std::fprintf(stderr,
                 "tern: note: ignored columns of '%s', because the model has no inputs of these names: %s\n",
                 Printable(file.path).c_str(), Printable(Join(names, ", ")).c_str());
}

}  // namespace

Tensor FitShape(const Tensor& t, const Shape& shape) {
  if (t.rank() != 1 || !shape.ranked || shape.rank() == 1) return t;
  Dims dims;
  int64_t known = 1, open = -1;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    dims.push_back(shape.dims[i].known() ? shape.dims[i].value() : 1);
    if (!shape.dims[i].known() && open >= 0) return t;
    if (!shape.dims[i].known())
      open = static_cast<int64_t>(i);
    else if (__builtin_mul_overflow(known, dims.back(), &known))
      return t;
  }
  if (open >= 0 && known > 0) dims[static_cast<size_t>(open)] = t.size() / known;
  const auto count = CheckedCount(dims, t.dtype());
  return count && *count == t.size() ? t.Reshaped(dims) : t;
}

Status PutFeed(const std::string& name, Datum datum, Feeds& feeds) {
  if (!feeds.emplace(name, std::move(datum)).second)
    return InvalidArgument("input '", name, "' is given twice");
  return {};
}

Result<Tensor> CsvInput(const InputFile& file, const Value& input) {
  auto table = data::ParseCsv(file.text, input.type.dtype != DType::kString);
  if (!table.ok()) return WhileReading(table.TakeStatus(), input, file);
  auto t = data::CsvTensor(*table, input.type.dtype);
  if (!t.ok()) return WhileReading(t.TakeStatus(), input, file);
  if (!table->header.empty())
    std::fprintf(stderr, "tern: note: took row 1 of '%s' as a header, because it has no number: %s\n",
                 Printable(file.path).c_str(), Printable(Join(table->header, ", ")).c_str());
  return FitTable(*t, input.type.shape);
}

Status AddCsvColumns(const Graph& graph, const InputFile& file, Feeds& feeds) {
  auto table = NamedTable(graph, file);
  if (!table.ok()) return table.TakeStatus().While(StrCat("reading '", file.path, "'"));
  std::vector<std::string> ignored;
  for (size_t column = 0; column < table->header.size(); ++column) {
    const auto input = FindInput(graph, table->header[column]);
    if (!input.ok()) {
      ignored.push_back(StrCat("'", table->header[column], "'"));
      continue;
    }
    auto t = ColumnInput(*table, column, **input);
    if (!t.ok()) return WhileReading(t.TakeStatus(), **input, file);
    TERN_TRY(PutFeed((*input)->name, Datum(std::move(*t)), feeds));
  }
  SayIgnored(ignored, file);
  return {};
}

}  // namespace tern::tools
