// The configuration of a model as a message: read from text, YAML or JSON, completed, checked, converted.
#pragma once
#include <string>
#include <string_view>

#include "server/core/model_config.h"

namespace inference {
class ModelConfig;
}

namespace tern::server {

using ConfigMessage = inference::ModelConfig;

// Read a configuration. They fail with kInvalidArgument; the message names the line and the column, but no
// file. `out` is cleared first.
Status ParseConfigText(std::string_view text, ConfigMessage& out);  // config.pbtxt
Status ParseConfigYaml(std::string_view text, ConfigMessage& out);  // the same fields by name
Status ParseConfigJson(std::string_view text, ConfigMessage& out);  // as ConfigJson writes it

// Returns JSON with the message's field names. Scalars and lists are always written, messages if they are
// set, 64-bit integers as numbers.
std::string ConfigJson(const ConfigMessage& message);

// Fills in defaults: the version policy, instance groups, names, preferred batch sizes, idle times.
void SetDefaults(ConfigMessage& message);

// Checks everything that can be checked without the model. Call SetDefaults first.
Status CheckConfig(const ConfigMessage& message);
// Part of CheckConfig: every tensor of an ensemble is written once, no step waits for itself.
Status CheckEnsemble(const ConfigMessage& message);
// Part of CheckConfig: names, types and dims of inputs and outputs.
Status CheckTensors(const ConfigMessage& message);
Status CheckSequence(const ConfigMessage& message);

// Converts a checked message. folder: the model's, for labels and initial states; empty: without these.
// json and proto are set.
Result<ModelConfig> ConvertConfig(const ConfigMessage& message, const std::string& folder);

// Takes inputs, outputs, batch size and batching from a configuration that a back end completed into the
// message, and sets json and proto of the configuration.
void UpdateMessage(ModelConfig& config, ConfigMessage& message);

// Model names become folder names, so "/" , "..", control characters and empty names are refused.
Status CheckModelName(std::string_view name);

// Returns the path of a file in a model's folder. Refuses absolute names, "..", and symbolic links that lead
// out of the folder. Messages name the file without the folder.
Result<std::string> FileInside(const std::string& folder, const std::string& file);

// For each line of a file of labels. Trailing spaces and carriage returns are dropped.
Result<std::vector<std::string>> ReadLabels(const std::string& path);

}  // namespace tern::server
