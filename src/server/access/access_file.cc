#include "server/access/access_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "data/json_writer.h"
#include "data/utf8.h"

namespace tern::server {
namespace {

constexpr size_t kMaxValue = 1024;  // bytes of a value
constexpr size_t kMaxEntries = 100'000;

template <class... A> Status ErrorAt(const YAML::Node& node, const A&... text) {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return InvalidArgument(text...);
  return InvalidArgument("line ", mark.line + 1, ": ", text...);
}

// Names appear in logs and metrics, which are UTF-8.
bool IsPlain(std::string_view text) {
  return !text.empty() && text.size() <= kMaxValue && data::DecodeUtf8(text) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

Status ReadText(const YAML::Node& value, const char* key, std::string& out) {
  if (!value.IsScalar() || !IsPlain(value.Scalar()))
    return ErrorAt(value, "'", key, "' must be a text of 1 to ", kMaxValue,
                   " bytes of UTF-8 without control characters");
  out = value.Scalar();
  return {};
}

Status ReadList(const YAML::Node& value, const char* key, std::vector<std::string>& out) {
  if (!value.IsSequence() || value.size() == 0 || value.size() > kMaxValue)
    return ErrorAt(value, "'", key, "' must be a list of 1 to ", kMaxValue, " texts");
  for (const YAML::Node& item : value) TERN_TRY(ReadText(item, key, out.emplace_back()));
  return {};
}

Status ReadNumber(const YAML::Node& value, const std::string& key, double lowest, double& out) {
  constexpr double kHighest = 1e12;
  if (!value.IsScalar() || !ParseDouble(value.Scalar(), out) || !(out >= lowest && out <= kHighest))
    return ErrorAt(value, "'", key, "' must be a number from ", lowest, " to ", kHighest);
  return {};
}

Status ReadCount(const YAML::Node& value, const std::string& key, uint64_t highest, uint64_t& out) {
  if (!value.IsScalar() || !ParseUnsigned(value.Scalar(), out) || out < 1 || out > highest)
    return ErrorAt(value, "'", key, "' must be an integer from 1 to ", highest);
  return {};
}

Status ReadQuota(const YAML::Node& map, Quota& quota) {
  if (!map.IsMap()) return ErrorAt(map, "'quota' must be a map");
  constexpr double kLeast = 0.001;
  std::set<std::string> seen;
  for (const auto& pair : map) {
    if (!pair.first.IsScalar() || !seen.insert(pair.first.Scalar()).second)
      return ErrorAt(pair.first, "'quota' has a bad or repeated key");
    const std::string& key = pair.first.Scalar();
    uint64_t weight = 0;
    if (key == "requests_per_s")
      TERN_TRY(ReadNumber(pair.second, key, kLeast, quota.requests_per_s));
    else if (key == "burst")
      TERN_TRY(ReadNumber(pair.second, key, 1, quota.burst));
    else if (key == "bytes_per_s")
      TERN_TRY(ReadNumber(pair.second, key, 1, quota.bytes_per_s));
    else if (key == "concurrency")
      TERN_TRY(ReadCount(pair.second, key, 1'000'000, quota.concurrency));
    else if (key == "queued_bytes")
      TERN_TRY(ReadCount(pair.second, key, uint64_t{1} << 50, quota.queued_bytes));
    else if (key == "weight")
      TERN_TRY(ReadCount(pair.second, key, 1000, weight));
    else
      return ErrorAt(pair.first, "unknown key '", key, "' of 'quota'");
    if (weight) quota.weight = static_cast<uint32_t>(weight);
  }
  if (quota.burst > 0 && quota.requests_per_s <= 0) return ErrorAt(map, "'burst' needs 'requests_per_s'");
  return {};
}

Status ReadRoles(const YAML::Node& value, Roles& roles) {
  std::vector<std::string> names;
  TERN_TRY(ReadList(value, "roles", names));
  for (const std::string& name : names) {
    const Result<Roles> role = ParseRole(name);
    if (!role.ok()) return ErrorAt(value, role.status().message());
    roles |= *role;
  }
  return {};
}

Status ReadHash(const YAML::Node& value, std::optional<TokenHash>& hash) {
  if (value.IsScalar()) hash = ParseHash(value.Scalar());
  if (hash) return {};
  return ErrorAt(value, "'hash' must be 'sha256:' and 64 lower-case hexadecimal digits");
}

Status ReadExpiry(const YAML::Node& value, WallTime& expires) {
  if (!value.IsScalar()) return ErrorAt(value, "'expires' must be a time");
  const Result<WallTime> time = ParseTime(value.Scalar());
  if (!time.ok()) return ErrorAt(value, "'expires': ", time.status().message());
  expires = *time;
  return {};
}

Status ReadName(const YAML::Node& value, std::string& san) {
  TERN_TRY(ReadText(value, "san", san));
  for (const char* kind : {"DNS:", "URI:", "EMAIL:", "IP:"})
    if (StartsWith(san, kind) && san.size() > std::string_view(kind).size()) return {};
  return ErrorAt(value, "'san' must begin with DNS:, URI:, EMAIL: or IP:");
}

Status ReadField(const std::string& key, const YAML::Node& value, AccessEntry& entry) {
  if (key == "name") return ReadText(value, "name", entry.name);
  if (key == "tenant") return ReadText(value, "tenant", entry.tenant);
  if (key == "roles") return ReadRoles(value, entry.roles);
  if (key == "models") return ReadList(value, "models", entry.models);
  if (key == "hash") return ReadHash(value, entry.hash);
  if (key == "subject") return ReadText(value, "subject", entry.subject);
  if (key == "san") return ReadName(value, entry.san);
  if (key == "expires") return ReadExpiry(value, entry.expires);
  if (key == "quota") return ReadQuota(value, entry.quota);
  return ErrorAt(value, "unknown key '", key, "'");
}

Result<AccessEntry> ReadEntry(const YAML::Node& node) {
  if (!node.IsMap())
    return ErrorAt(node, "an entry must be a map with 'name', 'roles', and 'hash', 'subject' or 'san'");
  AccessEntry entry;
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) return ErrorAt(pair.first, "a key is not a text");
    const std::string& key = pair.first.Scalar();
    if (!seen.insert(key).second) return ErrorAt(pair.first, "key '", key, "' is repeated");
    TERN_TRY(ReadField(key, pair.second, entry));
  }
  if (entry.name.empty()) return ErrorAt(node, "the entry has no 'name'");
  if (entry.roles == 0) return ErrorAt(node, "'", entry.name, "' has no 'roles'");
  if (entry.hash.has_value() + !entry.subject.empty() + !entry.san.empty() != 1)
    return ErrorAt(node, "'", entry.name, "' must have exactly one of 'hash', 'subject' and 'san'");
  if (entry.tenant.empty()) entry.tenant = entry.name;
  return entry;
}

Status CheckUnique(const std::vector<AccessEntry>& entries) {
  std::set<std::string> names, keys;
  std::map<std::string, const AccessEntry*> tenants;
  for (const AccessEntry& entry : entries) {
    if (!names.insert(entry.name).second)
      return InvalidArgument("two entries have the name '", entry.name, "'");
    const std::string key = entry.hash              ? HashText(*entry.hash)
                            : entry.subject.empty() ? StrCat("san ", entry.san)
                                                    : StrCat("subject ", entry.subject);
    if (!keys.insert(key).second)
      return InvalidArgument("'", entry.name, "' has the hash, subject or san of another entry");
    const auto [place, fresh] = tenants.emplace(entry.tenant, &entry);
    if (!fresh && !(place->second->quota == entry.quota))
      return InvalidArgument("'", place->second->name, "' and '", entry.name, "' belong to the tenant '",
                             entry.tenant, "' and state different quotas");
  }
  return {};
}

Result<std::vector<AccessEntry>> ReadEntries(const YAML::Node& root) {
  std::vector<AccessEntry> entries;
  if (root.IsNull()) return entries;
  if (!root.IsSequence()) return ErrorAt(root, "the file is not a list of entries");
  if (root.size() > kMaxEntries) return InvalidArgument("more than ", kMaxEntries, " entries");
  for (const YAML::Node& node : root) {
    TERN_ASSIGN(AccessEntry entry, ReadEntry(node));
    entries.push_back(std::move(entry));
  }
  TERN_TRY(CheckUnique(entries));
  return entries;
}

}  // namespace

Result<std::vector<AccessEntry>> ParseAccessFile(std::string_view text) {
  try {
    return ReadEntries(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    return InvalidArgument("line ", e.mark.line + 1, ": ", e.msg);
  }
}

Result<WallTime> ExpiryAt(std::chrono::sys_seconds time, std::string_view text) {
  using namespace std::chrono;
  constexpr int kLastYear = 2261;
  if (time < sys_days(year(kLastYear + 1) / 1 / 1)) return WallTime(time);
  return InvalidArgument("'", text, "' is after ", kLastYear,
                         ", the last possible year; an entry without 'expires' has no end");
}

Result<WallTime> ParseTime(std::string_view text) {
  tm parts{};
  const std::string copy(text);
  for (const char* form : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%d"}) {
    parts = {};
    const char* end = strptime(copy.c_str(), form, &parts);
    if (end == copy.c_str() + copy.size() && parts.tm_year >= 70) {
      // timegm normalizes dates such as February 30, which would hide a mistake.
      const int day = parts.tm_mday;
      const std::chrono::sys_seconds seconds{std::chrono::seconds(timegm(&parts))};
      if (parts.tm_mday == day) return ExpiryAt(seconds, text);
    }
  }
  return InvalidArgument("'", text, "' is not a time of the form 2027-01-31 or 2027-01-31T12:00:00Z");
}

std::string TimeText(WallTime time) {
  const time_t seconds = std::chrono::system_clock::to_time_t(time);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

namespace {

// JSON's strings are YAML's, too.
std::string Quoted(const std::string& text) { return data::JsonWriter().Text(text).Take(); }

std::string QuotaText(const Quota& q) {
  std::vector<std::string> parts;
  const auto add = [&](const char* key, auto value) {
    if (value > 0) parts.push_back(StrCat(key, ": ", value));
  };
  add("requests_per_s", q.requests_per_s);
  add("burst", q.burst);
  add("concurrency", q.concurrency);
  add("bytes_per_s", q.bytes_per_s);
  add("queued_bytes", q.queued_bytes);
  if (q.weight != 1) add("weight", q.weight);
  return parts.empty() ? "" : StrCat("  quota: {", Join(parts, ", "), "}\n");
}

}  // namespace

std::string EntryText(const AccessEntry& entry) {
  std::string text = StrCat("- name: ", Quoted(entry.name), "\n");
  if (entry.tenant != entry.name && !entry.tenant.empty())
    text += StrCat("  tenant: ", Quoted(entry.tenant), "\n");
  if (entry.hash) text += StrCat("  hash: ", HashText(*entry.hash), "\n");
  if (!entry.subject.empty()) text += StrCat("  subject: ", Quoted(entry.subject), "\n");
  if (!entry.san.empty()) text += StrCat("  san: ", Quoted(entry.san), "\n");
  text += StrCat("  roles: [", RoleNames(entry.roles), "]\n");
  if (!entry.models.empty()) {
    std::vector<std::string> quoted;
    for (const std::string& model : entry.models) quoted.push_back(Quoted(model));
    text += StrCat("  models: [", Join(quoted, ", "), "]\n");
  }
  if (entry.expires != kNoExpiry) text += StrCat("  expires: ", TimeText(entry.expires), "\n");
  return text + QuotaText(entry.quota);
}

}  // namespace tern::server
