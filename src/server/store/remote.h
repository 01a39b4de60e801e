// All remote repositories of a server.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "server/observe/metrics_text.h"
#include "server/store/mirror.h"

namespace tern::server {

// Thread-safe.
class RemoteRepositories {
 public:
  // Replaces the URLs in `folders` by the local folders of their copies. Returns null if there are no URLs.
  // Does not use the network.
  static Result<std::unique_ptr<RemoteRepositories>> Open(const StoreOptions& options,
                                                          std::vector<std::string>& folders);
  ~RemoteRepositories();

  // Updates the copies of the wanted models. If `wanted` is null, updates all. Fails if a repository cannot
  // be read and has no copies. Other errors are logged and counted, and the copies stay.
  Status Refresh(const WantedModels& wanted, bool start);
  // Copies one model before it is loaded, if a repository has it.
  Status Update(const std::string& model);
  // Keeps the files of a version that was loaded from the folder of a copy, until the result is destroyed.
  // Returns null for other folders.
  std::shared_ptr<const void> Keep(const std::string& folder, const std::string& version);
  // Ends transfers. Calls that run return soon, and later calls fail.
  void Stop() { stopped_ = true; }
  void AppendMetrics(MetricsText& text) const;

 private:
  RemoteRepositories() = default;
  tern::Stop stop() const { return {&stopped_}; }

  std::atomic<bool> stopped_{false};
  std::string temporary_;  // the folder to remove at the end
  std::vector<std::unique_ptr<Mirror>> mirrors_;
};

}  // namespace tern::server
