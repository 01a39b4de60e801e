// The certificate files of the server, which may be replaced while it runs.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "server/access/watched_file.h"
#include "server/net/tls.h"

namespace tern::server {

class MetricsText;

// Thread-safe.
class TlsFiles {
 public:
  // Fails if a file cannot be read. Attach checks the contents.
  static Result<std::shared_ptr<TlsFiles>> Open(const TlsOptions& options);

  // Gives a context its certificates, now and after each change.
  Status Attach(const std::shared_ptr<TlsContext>& context);
  // Looks for changes. If the new files do not fit together, keeps the old certificates. Perhaps not all
  // files are replaced yet, so the error is logged only if the next call finds it again. Also warns of a
  // certificate that expires soon.
  void Reload();
  void AppendMetrics(MetricsText& text) const;
  std::chrono::system_clock::time_point expires() const;

 private:
  explicit TlsFiles(const TlsOptions& options);
  Status Refresh();
  TlsMaterial Material() const { return {certificate_.content(), key_.content(), client_ca_.content()}; }
  Status ReplaceAll();
  void WarnOfExpiry();

  mutable std::mutex mutex_;
  const TlsOptions options_;  // without `files`
  WatchedFile certificate_, key_, client_ca_;
  std::vector<std::weak_ptr<TlsContext>> contexts_;
  bool stale_ = false;      // the contexts do not use the contents of the files
  std::string last_error_;  // of the previous call
  bool logged_ = false;     // last_error_ is in the log
  std::chrono::system_clock::time_point expires_;
  int warned_ = 0;  // number of thresholds for which a warning was logged
  std::atomic<uint64_t> reloads_{0}, failures_{0};
};

}  // namespace tern::server
