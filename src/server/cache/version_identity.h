// The text that stands for a version in keys of the response cache.
#pragma once
#include <string>
#include <vector>

#include "server/core/model_config.h"

namespace tern::server {

// Returns an identity that no other version in this process has.
std::string UniqueIdentity();

// Returns an identity that depends on what the version computes, so that other servers and later processes
// have the same: a digest of the program's build, of the configuration with its labels, of the files, and of
// `notes`. Of a folder, all files below it count, with their names. Fails if a file cannot be read.
Result<std::string> ContentIdentity(const ModelConfig& config, const std::vector<std::string>& paths,
                                    const std::string& notes);

}  // namespace tern::server
