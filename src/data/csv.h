// Reads comma-separated values as in RFC 4180. Each line is a row. A quoted cell may contain separators,
// quotes and line ends.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace tern::data {

struct CsvTable {
  std::vector<std::string> header;             // names of the columns; empty if there is no header line
  std::vector<std::vector<std::string>> rows;  // all of the same length
  std::vector<int64_t> lines;  // the number of the line in which each row starts; the first line is 1

  int64_t columns() const;
  // Returns a text for messages. Place(1, 3) returns "row 2 (line 3), column 4 ('width')".
  std::string Place(size_t row, size_t column) const;
};

// Parses a table. Fails if rows have different numbers of cells. The separator is the comma if the first row
// contains one, else the semicolon, else the tab. Empty lines at the end are dropped, except in a single
// column of text. If `numbers` is true, these rules also apply:
// - Blanks separate cells if the first row has no other separator. Blanks around a cell are dropped.
// - Lines that start with '#' are comments.
// - The first row is the header if no cell is a number, `true` or `false`, and at least one cell is neither
//   empty nor a text for a missing number (NA, N/A, null, '-' …).
Result<CsvTable> ParseCsv(std::string_view text, bool numbers);

// Makes the first row the header. Drops blanks around the names.
void TakeHeader(CsvTable& table);

// CsvTensor returns all cells as a tensor of shape [rows, columns]. CsvColumn returns one column as a tensor
// of shape [rows, 1]. `wanted` is the element type; kInvalid means f32. An empty cell is "" in a string
// tensor, NaN in a type that has NaN, and an error in any other type. A cell that the type cannot represent
// is also an error. Complex types are not supported.
Result<Tensor> CsvTensor(const CsvTable& table, DType wanted);
Result<Tensor> CsvColumn(const CsvTable& table, size_t column, DType wanted);

}  // namespace tern::data
