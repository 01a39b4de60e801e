// The file of tokens and certificates with their roles.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/identity.h"
#include "server/access/token.h"

namespace tern::server {

// A token has `hash`, a client certificate `subject` or `san`.
struct AccessEntry {
  std::string name, tenant;  // tenant: `name` if the file states none
  Roles roles = 0;
  std::vector<std::string> models;
  std::optional<TokenHash> hash;
  std::string subject;  // RFC 2253, such as "CN=trainer,O=Example"
  std::string san;      // "DNS:trainer.example", "URI:spiffe://…", "EMAIL:…" or "IP:…"
  WallTime expires = kNoExpiry;
  Quota quota;
  bool operator==(const AccessEntry&) const = default;
};

// Reads a YAML list of entries. Errors name the line. Names, hashes, subjects and alternative names are
// unique. Entries of one tenant have the same quota.
Result<std::vector<AccessEntry>> ParseAccessFile(std::string_view text);

// Reads a time such as "2027-01-31" or "2027-01-31T12:00:00Z", from 1970 to 2261.
Result<WallTime> ParseTime(std::string_view text);
// Returns a time that `text` states. Fails after 2261: a WallTime counts nanoseconds since 1970 in 64 bits,
// which suffice until April 2262.
Result<WallTime> ExpiryAt(std::chrono::sys_seconds time, std::string_view text);
std::string TimeText(WallTime time);  // "2027-01-31T12:00:00Z"

// Returns the lines of a new entry, which can be appended to a file.
std::string EntryText(const AccessEntry& entry);

}  // namespace tern::server
