// Reads the configuration of a model. The model file itself is not read.
#pragma once
#include "server/repository/layout.h"

namespace tern::server {

// Parses `override_json`, or the model's configuration file if `override_json` is empty. Fills in names,
// platform, back end and defaults, then checks the configuration.
Status ReadConfig(const ModelSource& source, const std::string& override_json, ConfigMessage& out);

}  // namespace tern::server
