// Writes results to files and to the terminal.
#pragma once
#include <string>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern::tools {

// Converts a value's name to a file name: / and : become _. Special names such as ".." become harmless too.
std::string FileName(const std::string& value_name);

// One folder to write values to.
struct Destination {
  std::string folder;
  const std::vector<Value*>& values;
};
// Fails if two values would be written to the same file.
Status CheckFileNames(const std::vector<Destination>& destinations);

// Writes one file per value to the folder, which is created if missing: <FileName>.<format> for tensors; .npz
// with arr_0 … for sequences of tensors; .json for everything else. Returns the paths.
Result<std::vector<std::string>> WriteData(const Destination& to, const DatumList& data,
                                           const std::string& format);

// Counts the elements of a result that are not finite, including those in sequences and maps.
struct NonFinite {
  int64_t elements = 0, nan = 0, inf = 0;
  bool any() const { return nan || inf; }
  std::string ToString() const;  // "3 of 10 elements are NaN, 2 infinite"
};
NonFinite CountNonFinite(const Datum& datum);
// Prints a note on stderr for each output with such elements.
void NoteNonFinite(const std::vector<Value*>& outputs, const DatumList& data);

// Returns all outputs as one byte string, for standard output: one tensor as .npy, .txt or .pb, several as
// .npz or .json.
Result<std::string> FormatData(const std::vector<Value*>& values, const DatumList& data,
                               const std::string& format);

// Returns a text such as "f32[1,10]  0.1 0.2 …", with at most `limit` elements.
std::string Preview(const Datum& datum, int64_t limit);

}  // namespace tern::tools
