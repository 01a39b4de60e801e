// The configuration of a model as a protobuf message. These functions read, complete, check and convert it.
#pragma once
#include <string>
#include <string_view>

#include "server/core/model_config.h"

namespace inference {
class ModelConfig;
}

namespace tern::server {

using ConfigMessage = inference::ModelConfig;

// These three functions clear `out`, then read a configuration. They fail with kInvalidArgument. The error
// does not name the file. For config.pbtxt and config.yaml, it names the line and the column.
Status ParseConfigText(std::string_view text, ConfigMessage& out);  // config.pbtxt
// Reads config.yaml, which has the same fields as config.pbtxt.
Status ParseConfigYaml(std::string_view text, ConfigMessage& out);
Status ParseConfigJson(std::string_view text, ConfigMessage& out);  // the form that ConfigJson writes

// Returns JSON with the field names of the proto file. Scalars and lists are always written. Nested messages
// are written if they are set. 64-bit integers are numbers, not strings.
std::string ConfigJson(const ConfigMessage& message);

// Fills in defaults: the version policy, instance groups with their names, preferred batch sizes, idle times
// and the use of pinned memory.
void SetDefaults(ConfigMessage& message);

// Checks everything that can be checked without the model. Call SetDefaults first.
// If `complete` is true, inputs and outputs must have types and dims. If it is false, they may be missing,
// because the model can supply them.
Status CheckConfig(const ConfigMessage& message, bool complete = true);
// Part of CheckConfig. Checks that every tensor of an ensemble is written once, and that no step depends on
// itself.
Status CheckEnsemble(const ConfigMessage& message);
// Part of CheckConfig. Checks the names, types and dims of inputs and outputs.
Status CheckTensors(const ConfigMessage& message, bool complete);
Status CheckSequence(const ConfigMessage& message);

// Converts a checked message, and sets `json` and `proto` of the result. `folder` is the model's folder, from
// which labels and initial states are read. If it is empty, they are not read.
Result<ModelConfig> ConvertConfig(const ConfigMessage& message, const std::string& folder);

// Copies inputs, outputs, batch size, batching and `decoupled` from `config`, which a back end has completed,
// to the message. Then sets `json` and `proto` of `config`.
void UpdateMessage(ModelConfig& config, ConfigMessage& message);

// Refuses empty names, names of more than 255 bytes, "." and names with "/", "\", ".." or control characters,
// because model names become folder names.
Status CheckModelName(std::string_view name);
// Returns whether the name of a folder is the number of a version: at most 18 digits, the first of them not
// 0.
bool IsVersion(const std::string& name);

// Returns the path of a file in a model's folder. Refuses absolute names, "..", and symbolic links that lead
// out of the folder. Errors name the file without the folder.
Result<std::string> FileInside(const std::string& folder, const std::string& file);

// Returns the lines of a file of labels. Trailing spaces, tabs and carriage returns are dropped.
Result<std::vector<std::string>> ReadLabels(const std::string& path);

}  // namespace tern::server
