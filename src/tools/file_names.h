// Names the files to which values are written.
#pragma once
#include <string>
#include <vector>

#include "ir/graph.h"

namespace tern::tools {

// A folder, and the values to be written to it.
struct Destination {
  std::string folder;  // empty: nothing is written
  const std::vector<Value*>& values;
  std::vector<std::string> names = {};  // a file name without extension for each value; NameFiles sets it
};

// Converts a value's name to a file name. Control characters and / : \ * ? " < > | become _. A name of more
// than 180 bytes is cut, and a hash of the value's name is appended. Puts _ before the names "", "." and
// "..".
std::string FileName(const std::string& value_name);

// Sets the names of all destinations. If several values would be written to the same file, a hash of its name
// is appended for each value whose name FileName changed. Values with equal names are numbered: x, x-2.
void NameFiles(const std::vector<Destination*>& destinations);

}  // namespace tern::tools
