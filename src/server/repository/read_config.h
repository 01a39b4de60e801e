// The configuration of a model before its file is read.
#pragma once
#include "server/repository/layout.h"

namespace tern::server {

// Reads the model's configuration, or `override_json` in its place if that is not empty. Fills in names,
// platform, back end and defaults, and checks it.
Status ReadConfig(const ModelSource& source, const std::string& override_json, ConfigMessage& out);

}  // namespace tern::server
