// Writes test vectors in ONNX's format; import/onnx/importer.h reads them.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern::onnx {

// Serializes a TensorProto, a SequenceProto or, for an optional without a value, an OptionalProto. Fails for
// maps.
Result<std::string> TestDatumBytes(const Datum& datum);

}  // namespace tern::onnx
