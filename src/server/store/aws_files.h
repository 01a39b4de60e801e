// Reads the files and answers in which AWS keeps credentials.
#pragma once
#include <cstdint>
#include <string>

#include "base/status.h"
#include "server/store/sigv4.h"

namespace tern::server {

// Removes spaces at both ends, and line ends at the end.
std::string TrimText(std::string text);

// Returns the value of a key in a section of an INI file; empty if there is none.
std::string IniValue(const std::string& text, const std::string& section, const std::string& key);

// Parses {"AccessKeyId": …, "SecretAccessKey": …, "Token": …, "Expiration": …}. `expires` is not changed if
// the time is missing.
Status ParseAwsCredentials(const std::string& json, AwsCredentials& out, int64_t& expires);

}  // namespace tern::server
