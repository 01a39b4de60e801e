#include "server/core/restrictions.h"

#include <regex.h>

#include <algorithm>

namespace tern::server {
namespace {

constexpr std::string_view kGroups[] = {"health",       "metadata",         "inference",  "shared-memory",
                                        "model-config", "model-repository", "statistics", "trace",
                                        "logging",      "metrics"};
static_assert(std::size(kGroups) == static_cast<size_t>(ApiGroup::kNone));

constexpr std::string_view kReserved[] = {"sequence_id", "sequence_start", "sequence_end",      "priority",
                                          "timeout",     "headers",        "binary_data_output"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

// Takes the same time wherever the texts differ, so that a client cannot guess the secret byte by byte.
bool SameSecret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^
                  static_cast<unsigned char>(secret.empty() ? 0 : secret[i % secret.size()]);
  return difference == 0;
}

bool IsToken(std::string_view text) { return !text.empty() && text.find_first_of(" \t\r\n:") == text.npos; }

}  // namespace

// The messages are Triton's.
Status Restrictions::Add(std::string_view text, std::string_view prefix, std::string_view kind) {
  const size_t colon = text.find(':');
  const size_t equal = colon == text.npos ? text.npos : text.find('=', colon);
  if (equal == text.npos || colon == 0 || equal + 1 == text.size() ||
      !IsToken(text.substr(colon + 1, equal - colon - 1)))
    return InvalidArgument("the value must have the form ", kind, ",…:KEY=VALUE");
  Secret secret{StrCat(prefix, text.substr(colon + 1, equal - colon - 1)),
                std::string(text.substr(equal + 1))};
  for (const std::string& name : SplitText(std::string(text.substr(0, colon)), ',')) {
    const auto* found = std::find(std::begin(kGroups), std::end(kGroups), name);
    if (found == std::end(kGroups))
      return InvalidArgument("unknown restricted ", kind, " '", name, "'; it must be one of ",
                             Join(std::vector<std::string>(std::begin(kGroups), std::end(kGroups)), ", "));
    auto& place = secrets_[static_cast<size_t>(found - std::begin(kGroups))];
    if (place)
      return InvalidArgument("restricted ", kind, " '", name,
                             "' can not be specified in multiple config groups");
    place = secret;
  }
  return {};
}

bool Restrictions::empty() const {
  return std::none_of(secrets_.begin(), secrets_.end(),
                      [](const auto& secret) { return secret.has_value(); });
}

std::vector<std::string> Restrictions::HeaderNames() const {
  std::vector<std::string> names;
  for (const auto& secret : secrets_)
    if (secret && std::find(names.begin(), names.end(), secret->header) == names.end())
      names.push_back(secret->header);
  return names;
}

const Restrictions::Secret* Restrictions::Missing(ApiGroup group, const Headers& headers) const {
  if (group == ApiGroup::kNone || !secrets_[static_cast<size_t>(group)]) return nullptr;
  const Secret& secret = *secrets_[static_cast<size_t>(group)];
  for (const auto& [name, value] : headers)
    if (SameName(name, secret.header) && SameSecret(value, secret.value)) return nullptr;
  return &secret;
}

namespace {

// glibc's regexec needs no stack that grows with the text, which clients choose.
class PosixPattern final : public HeaderPattern {
 public:
  ~PosixPattern() override {
    if (compiled_) regfree(&regex_);
  }
  Status Compile(const std::string& pattern) {
    const bool exact = pattern.starts_with("(?-i)");
    const std::string text = pattern.substr(exact ? 5 : pattern.starts_with("(?i)") ? 4 : 0);
    const int error = regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB | (exact ? 0 : REG_ICASE));
    if (error == 0) {
      compiled_ = true;
      return {};
    }
    char message[256];
    regerror(error, &regex_, message, sizeof message);
    return InvalidArgument("'", pattern, "' is no POSIX regular expression: ", message);
  }
  bool Matches(const std::string& name) const override {
    return regexec(&regex_, name.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_{};
  bool compiled_ = false;
};

}  // namespace

Result<std::shared_ptr<const HeaderPattern>> HeaderPattern::Compile(const std::string& pattern) {
  auto compiled = std::make_shared<PosixPattern>();
  TERN_TRY(compiled->Compile(pattern));
  return std::shared_ptr<const HeaderPattern>(std::move(compiled));
}

Status ForwardHeaders(const Headers& headers, const HeaderPattern* pattern, Request& request) {
  if (!pattern) return {};
  for (const auto& [name, value] : headers) {
    if (!pattern->Matches(name)) continue;
    if (name.starts_with("triton_") ||
        std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved))
      return InvalidArgument("Header '", name, "' is reserved for Triton usage and cannot be forwarded.");
    std::erase_if(request.parameters, [&](const auto& parameter) { return parameter.first == name; });
    request.parameters.emplace_back(name, value);
  }
  return {};
}

}  // namespace tern::server
