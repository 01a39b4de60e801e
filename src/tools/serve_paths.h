// The paths that `tern serve` takes without an option.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace tern::tools {

// Returns the setting for each path, as pairs of a name and a value. A URL, or a folder whose subfolders are
// models in Triton's layout, is a repository. Any other path is a model with the name of the file or folder,
// without extension. Fails if a folder contains several models outside of this layout, and if two models
// would have the same name.
Result<std::vector<std::pair<std::string, std::string>>> SettingsOfPaths(
    const std::vector<std::string>& paths);

}  // namespace tern::tools
