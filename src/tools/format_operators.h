// Prints the operators of a model format, and which of them Tern imports.
#pragma once
#include <string>
#include <vector>

#include "load/format.h"

namespace tern::tools {

struct Coverage {
  std::string format, title;  // the names of the format's library and of the format: "onnx" and "ONNX"
  size_t imported = 0, all = 0;
};

// Returns how many operators Tern imports, for each format whose library can be loaded.
std::vector<Coverage> FormatCoverage();

// Prints the operators of the format with this name, such as "onnx", as lines, as a Markdown page or as one
// JSON object. Letter case does not matter. Fails if no readable format has the name, or if the format has no
// operators of its own.
Status PrintOperators(const std::string& format, bool markdown, bool json);

}  // namespace tern::tools
