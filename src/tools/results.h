// Writes results to files and to the terminal.
#pragma once
#include <string>

#include "core/datum.h"
#include "tools/file_names.h"

namespace tern::tools {

// Writes one file per value to the folder and returns the paths. Creates the folder if it does not exist. A
// tensor is written as <name>.<format>, where Destination::names has the names. Other values are also written
// in this format if it can store them. If it cannot, a sequence of tensors is written as .npz with the arrays
// arr_0, arr_1, …, and any other value is written as .json.
Result<std::vector<std::string>> WriteData(const Destination& to, const DatumList& data,
                                           const std::string& format);

// The numbers of all elements, of NaNs and of infinite elements in a result. The elements of sequences and
// maps are included.
struct NonFinite {
  int64_t elements = 0, nan = 0, inf = 0;
  bool any() const { return nan || inf; }
  std::string ToString() const;  // for example "3 of 10 elements are NaN, 2 infinite"
};
NonFinite CountNonFinite(const Datum& datum);
// Prints a note on stderr for each output with NaNs or infinite elements.
void NoteNonFinite(const std::vector<Value*>& outputs, const DatumList& data);

// Returns all outputs as one byte string, for standard output. The formats npy, txt and pb support only one
// output, which must be a tensor. The format npz supports only tensors. The format json supports all outputs.
Result<std::string> FormatData(const std::vector<Value*>& values, const DatumList& data,
                               const std::string& format);

// Returns a text such as "f32[1,10]  0.1 0.2 …", with at most `limit` elements.
std::string Preview(const Datum& datum, int64_t limit);

}  // namespace tern::tools
