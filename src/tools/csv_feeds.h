// Reads tables (.csv) as inputs. The entire table is one input, or each column is one input.
#pragma once
#include "tools/input_file.h"
#include "tools/shapes.h"

namespace tern::tools {

// Reads a table as one input. An input of rank 2 becomes [rows, columns]. An input of rank 1 requires a table
// with a single row or column. For an input of a higher rank, each row is one item of the batch if its length
// fits. Otherwise all cells of the table are the elements of the input.
Result<Tensor> CsvInput(const InputFile& file, const Value& input);

// Reads a table with a header for a model with several inputs. Each column becomes the input of the same
// name. Other columns are ignored, with a note on stderr.
Status AddCsvColumns(const Graph& graph, const InputFile& file, Feeds& feeds);

// Reshapes a tensor of rank 1 to an input's shape. One dim of the shape may be open. Returns the tensor
// unchanged if the number of elements does not match.
Tensor FitShape(const Tensor& t, const Shape& shape);

// Adds an input to `feeds`. Fails if `feeds` already contains it.
Status PutFeed(const std::string& name, Datum datum, Feeds& feeds);

}  // namespace tern::tools
