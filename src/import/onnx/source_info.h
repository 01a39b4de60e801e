// Reads and writes the metadata of an ONNX file. It consists of the author's metadata_props and of header
// fields such as the producer. Graph::metadata stores the header fields under keys that start with
// kSourceKey, so .tern files contain them too.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tern_onnx {
class ModelProto;
}

namespace tern::onnx {

// The keys are "onnx:ir_version", "onnx:opset DOMAIN" for each domain (DOMAIN is "ai.onnx" for the default
// domain), "onnx:producer_name", "onnx:producer_version", "onnx:domain", "onnx:model_version" and
// "onnx:doc_string". A key is present if the file sets the field to a value that is not "". The key of
// model_version is absent if its value is 0.
inline constexpr std::string_view kSourceKey = "onnx:";
inline constexpr std::string_view kOpsetKey = "onnx:opset ";

using Metadata = std::vector<std::pair<std::string, std::string>>;
// Returns the author's metadata and the header fields.
Metadata MetadataOf(const tern_onnx::ModelProto& model);
// Writes metadata to a new model. Does not write producer, opsets and ir_version, because the new file has
// its own.
void SetMetadata(const Metadata& metadata, tern_onnx::ModelProto& model);

}  // namespace tern::onnx
