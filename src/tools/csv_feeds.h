// Tables as inputs: one input of many columns, or one input a column.
#pragma once
#include "tools/input_file.h"
#include "tools/shapes.h"

namespace tern::tools {

// A table for one input. Rows stay rows: an input of rank 2 gets [rows, columns]; one of rank 1 needs a
// single row or column; one of a higher rank gets a row for each item, or all cells in its dims.
Result<Tensor> CsvInput(const InputFile& file, const Value& input);

// A table with a header for a model of several inputs: each column feeds the input of its name, which takes
// one column. Columns that no input is called like are ignored, which is said on stderr.
Status AddCsvColumns(const Graph& graph, const InputFile& file, Feeds& feeds);

// Numbers without structure take the input's dims, of which one may be open.
Tensor FitShape(const Tensor& t, const Shape& shape);

Status PutFeed(const std::string& name, Datum datum, Feeds& feeds);

}  // namespace tern::tools
