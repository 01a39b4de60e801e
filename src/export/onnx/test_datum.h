// Writes test vectors in ONNX's format. ReadTestDatum in import/onnx/importer.h reads them.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern::onnx {

// Returns a serialized TensorProto, SequenceProto, or for an optional without a value, OptionalProto. Fails
// for maps.
Result<std::string> TestDatumBytes(const Datum& datum);

}  // namespace tern::onnx
