// Reads and writes the text header of a .npy file, which is a Python dict literal with three keys.
#pragma once
#include <string>
#include <string_view>

#include "core/tensor.h"

namespace tern::data {

struct NpyHeader {
  char kind = 0;  // numpy's letter for the type: b i u f c U S V
  bool big_endian = false;
  int64_t item_bytes = 0;  // bytes per element; in kind U, each character has 4 bytes
  bool fortran_order = false;
  Dims shape;
  size_t data_offset = 0;
};

Result<NpyHeader> ParseNpyHeader(std::string_view file);
// Returns the start of a .npy file, up to the data. Blanks pad it to a multiple of 64 bytes.
std::string FormatNpyHeader(const std::string& descr, const Dims& shape);

}  // namespace tern::data
