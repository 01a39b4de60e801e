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

// "f32[1,10]  0.1 0.2 …", at most `limit` elements.
std::string Preview(const Datum& datum, int64_t limit);

}  // namespace tern::tools
