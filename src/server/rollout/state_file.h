// The file in which releases are kept over a restart.
#pragma once
#include <map>
#include <string>

#include "base/status.h"
#include "server/rollout/release.h"

namespace tern::server {

using Releases = std::map<std::string, Release>;  // by model

// The text of the file: {"format":1,"models":{NAME:{…}}}.
std::string ReleasesText(const Releases& releases);
// Fails with kInvalidArgument if the text is not what ReleasesText writes. The message has the offset of the
// byte. Unknown members are ignored, so that an older server can read the file of a newer one.
Result<Releases> ParseReleases(std::string_view text);

// Returns no releases if the file does not exist. Errors name the file.
Result<Releases> ReadReleases(const std::string& path);
// Replaces the file atomically.
Status WriteReleases(const std::string& path, const Releases& releases);

// Part of ReleasesText, and of what the API returns.
void WriteRejected(const Release& release, data::JsonWriter& json);
void WriteHistory(const Release& release, data::JsonWriter& json);

}  // namespace tern::server
