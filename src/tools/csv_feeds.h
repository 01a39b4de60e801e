// Reads tables as inputs: one input with many columns, or one input per column.
#pragma once
#include "tools/input_file.h"
#include "tools/shapes.h"

namespace tern::tools {

// Reads a table for one input. An input of rank 2 gets [rows, columns]. Rank 1 requires a single row or
// column. A higher rank gets one row per batch item, or all cells in its dims.
Result<Tensor> CsvInput(const InputFile& file, const Value& input);

// Reads a table with a header for a model of several inputs: each column feeds the input of its name. Columns
// without such an input are ignored, with a note on stderr.
Status AddCsvColumns(const Graph& graph, const InputFile& file, Feeds& feeds);

// Reshapes unstructured numbers to the input's dims, of which one may be open.
Tensor FitShape(const Tensor& t, const Shape& shape);

Status PutFeed(const std::string& name, Datum datum, Feeds& feeds);

}  // namespace tern::tools
