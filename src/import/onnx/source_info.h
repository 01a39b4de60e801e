// What an ONNX file says about itself, beside what its author says in metadata_props: kept in
// Graph::metadata, so that .tern files have it too, under keys that start with kSourceKey.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tern_onnx {
class ModelProto;
}

namespace tern::onnx {

// "onnx:ir_version", "onnx:opset DOMAIN" for each domain, "onnx:producer_name", "onnx:producer_version",
// "onnx:domain", "onnx:model_version", "onnx:doc_string"; those that are set.
inline constexpr std::string_view kSourceKey = "onnx:";
inline constexpr std::string_view kOpsetKey = "onnx:opset ";

using Metadata = std::vector<std::pair<std::string, std::string>>;
// Of the author and of the file.
Metadata MetadataOf(const tern_onnx::ModelProto& model);
// The reverse. The file that is written has a producer, opsets and a version of its format of its own.
void SetMetadata(const Metadata& metadata, tern_onnx::ModelProto& model);

}  // namespace tern::onnx
