// Stored test vectors in ONNX's form; import/onnx/importer.h reads them.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern::onnx {

// A TensorProto, SequenceProto or (for an optional without a value) OptionalProto. Maps have no stored form.
Result<std::string> TestDatumBytes(const Datum& datum);

}  // namespace tern::onnx
