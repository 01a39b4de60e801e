// Which version of a model is the stable one, which is its candidate, and which were rejected. Plain data
// that is kept over a restart. SelectForRelease and UpdateRelease change it when versions appear or
// disappear.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/version_selector.h"

namespace tern::data {
class JsonWriter;
}

namespace tern::server {

struct ReleaseEvent {
  int64_t time = 0;    // seconds since the epoch
  std::string change;  // "start", "step", "promote", "rollback", "pin", …
  std::string version;
  std::string reason;
};

struct Rejected {
  std::string version, reason;
};

struct Release {
  std::string stable;     // empty: the model has no rollouts, and its latest version answers
  std::string candidate;  // empty: no rollout runs
  // A person chose the stable version by a pin or a rollback to it. The pin ends when a newer version that is
  // not rejected is loaded, when the stable version disappears, or when a person unpins it or starts a
  // rollout.
  bool pinned = false;
  std::vector<Rejected> rejected;
  size_t step = 0;               // of the rollout
  std::optional<double> weight;  // chosen by a person; the rollout then no longer advances by itself
  std::string policy;            // JSON of the request that started the rollout; empty: the configuration's
  std::map<std::string, std::string> labels;  // besides stable and canary
  std::vector<ReleaseEvent> history;          // the last events, the oldest first

  bool empty() const { return stable.empty() && labels.empty() && history.empty(); }
  bool IsRejected(const std::string& version) const;
  void Reject(const std::string& version, std::string reason);
  void Accept(const std::string& version);  // removes it from the rejected ones
  void Add(ReleaseEvent event);
  // Makes a version the stable one and ends the rollout. Forgets that this version or older ones were
  // rejected.
  void SetStable(const std::string& version);
};

// Adds the versions that the release needs to the selection. Removes rejected versions, unless the version
// policy names versions. Changes nothing in the selection if no version would remain. Forgets rejected
// versions that no longer exist.
void SelectForRelease(Release& release, const VersionChoice& choice, std::vector<std::string>& selected);

// Updates the release for the versions that are loaded now, in ascending order and not empty. `automatic`:
// the configuration asks for rollouts of new versions. Returns what changed; the caller sets the times.
std::vector<ReleaseEvent> UpdateRelease(Release& release, bool automatic,
                                        const std::vector<std::string>& loaded);

}  // namespace tern::server
