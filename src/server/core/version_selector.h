// Lets rollouts choose which versions of a model are loaded.
#pragma once
#include <string>
#include <vector>

namespace tern::server {

// What the repository knows about a model that it is about to load.
struct VersionChoice {
  std::vector<std::string> existing;  // ascending
  bool automatic = false;             // the configuration has the parameter tern_rollout
  bool specific = false;              // the version policy names versions
};

// Thread-safe.
class VersionSelector {
 public:
  virtual ~VersionSelector() = default;
  // Changes the versions that the version policy has selected. Adds only versions of choice.existing. Must
  // not block.
  virtual void Select(const std::string& model, const VersionChoice& choice,
                      std::vector<std::string>& selected) = 0;
};

}  // namespace tern::server
