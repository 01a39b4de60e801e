// Reads and writes the header fields of an ONNX file, beside the author's metadata_props. They are stored in
// Graph::metadata under keys that start with kSourceKey, so that .tern files have them too.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tern_onnx {
class ModelProto;
}

namespace tern::onnx {

// The keys are "onnx:ir_version", "onnx:opset DOMAIN" for each domain, "onnx:producer_name",
// "onnx:producer_version", "onnx:domain", "onnx:model_version" and "onnx:doc_string", for the fields that are
// set.
inline constexpr std::string_view kSourceKey = "onnx:";
inline constexpr std::string_view kOpsetKey = "onnx:opset ";

using Metadata = std::vector<std::pair<std::string, std::string>>;
// Returns the author's metadata and the header fields.
Metadata MetadataOf(const tern_onnx::ModelProto& model);
// Writes the metadata back. Producer, opsets and ir_version are those of the new file.
void SetMetadata(const Metadata& metadata, tern_onnx::ModelProto& model);

}  // namespace tern::onnx
