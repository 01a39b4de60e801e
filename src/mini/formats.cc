// Replaces the list of foreign formats and the importer libraries in a mini build, which reads .tern files
// only.
#include "load/importer.h"
#include "load/load.h"

namespace tern::load {

void AddForeignFormats(FormatTable& table) {
  table.Add({.name = "ONNX",
             .title = "an ONNX model",
             .extensions = {".onnx"},
             .advice = "this is a mini build, for which `tern mini` converts models"});
}

Result<ReadFunction> ReaderOf(const Format& format) { return format.read; }

}  // namespace tern::load
