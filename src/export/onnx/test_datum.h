// Writes test vectors in ONNX's format. ReadTestDatum in import/onnx/importer.h reads them.
#pragma once
#include <string>

#include "core/datum.h"

namespace tern::onnx {

// Returns a serialized TensorProto or SequenceProto. For an optional without a value, returns a serialized
// OptionalProto. Fails for maps, for sequences that contain maps or optionals, and for tensors of 2 GiB or
// more.
Result<std::string> TestDatumBytes(const Datum& datum);

}  // namespace tern::onnx
