// The text that stands for a version in keys of the response cache.
#pragma once
#include <string>
#include <vector>

#include "server/core/model_config.h"

namespace tern::server {

// Returns an identity that no other version in this process has.
std::string UniqueIdentity();

// Returns a digest of the program's build, of the configuration with its labels, of the files, and of
// `notes`. Other servers and later processes get the same identity for a version that computes the same. For
// a folder in `paths`, the digest contains the names and contents of all files below it. Fails if a file
// cannot be read.
Result<std::string> ContentIdentity(const ModelConfig& config, const std::vector<std::string>& paths,
                                    const std::string& notes);

}  // namespace tern::server
