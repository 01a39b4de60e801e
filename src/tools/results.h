// Writes a run's data to files and to the terminal.
#pragma once
#include <string>

#include "core/datum.h"
#include "ir/graph.h"

namespace tern::tools {

// A value's name as a file's: / and : become _. Names that a folder would misread become harmless too.
std::string FileName(const std::string& value_name);

// One folder to write values to.
struct Destination {
  std::string folder;
  const std::vector<Value*>& values;
};
// Two values whose files would have one name are an error: the second would overwrite the first.
Status CheckFileNames(const std::vector<Destination>& destinations);

// One file per value in the folder, made when missing: <FileName>.<format> for tensors; .npz with arr_0 … for
// sequences of tensors; .json for everything else. Gives the files' paths.
Result<std::vector<std::string>> WriteData(const Destination& to, const DatumList& data,
                                           const std::string& format);

// What of a result is no finite number. Sequences and maps count with all that they hold.
struct NonFinite {
  int64_t elements = 0, nan = 0, inf = 0;
  bool any() const { return nan || inf; }
  std::string ToString() const;  // "3 of 10 elements are NaN, 2 infinite"
};
NonFinite CountNonFinite(const Datum& datum);
// Says on stderr which outputs hold such values.
void NoteNonFinite(const std::vector<Value*>& outputs, const DatumList& data);

// All outputs in one piece, for standard output: one tensor as .npy, .txt or .pb, any number as .npz or
// .json.
Result<std::string> FormatData(const std::vector<Value*>& values, const DatumList& data,
                               const std::string& format);

// "f32[1,10]  0.1 0.2 …", at most `limit` elements.
std::string Preview(const Datum& datum, int64_t limit);

}  // namespace tern::tools
