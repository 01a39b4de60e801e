// Operations that only clients with a secret header may use, and headers that become parameters of requests.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "server/core/message.h"

namespace tern::server {

// Names and values of a request's header fields, in their order.
using Headers = std::vector<std::pair<std::string, std::string>>;

// Triton's groups of operations, and kMetrics. kNone is never restricted.
enum class ApiGroup : uint8_t {
  kHealth,
  kMetadata,
  kInference,
  kSharedMemory,
  kModelConfig,
  kModelRepository,
  kStatistics,
  kTrace,
  kLogging,
  kMetrics,
  kNone
};

class Restrictions {
 public:
  struct Secret {
    std::string header, value;
  };

  // Adds "GROUP,…:KEY=VALUE". The header is `prefix` and KEY. `kind` names a group in messages ("api"). Fails
  // if a group is unknown or has a secret already.
  Status Add(std::string_view text, std::string_view prefix, std::string_view kind);
  bool empty() const;
  // Returns the names of all headers that secrets need.
  std::vector<std::string> HeaderNames() const;
  // Returns the secret that these headers lack. Returns null if the operation is allowed.
  const Secret* Missing(ApiGroup group, const Headers& headers) const;

 private:
  std::array<std::optional<Secret>, static_cast<size_t>(ApiGroup::kNone)> secrets_;  // by group
};

// A POSIX extended regular expression for names of headers. It matches if it occurs anywhere in a name. It
// ignores case, unless it begins with "(?-i)". Thread-safe.
class HeaderPattern {
 public:
  static Result<std::shared_ptr<const HeaderPattern>> Compile(const std::string& pattern);
  virtual ~HeaderPattern() = default;
  virtual bool Matches(const std::string& name) const = 0;
};

// Adds the headers whose names match to the request's parameters. A header replaces a parameter of the same
// name. Fails if a name is reserved. `pattern` may be null: nothing is added.
Status ForwardHeaders(const Headers& headers, const HeaderPattern* pattern, Request& request);

}  // namespace tern::server
