// What protects a server: certificates, access control and the audit log. Follows changes of their files.
#pragma once
#include <memory>

#include "server/access/access.h"
#include "server/access/audit_log.h"
#include "server/main/options.h"
#include "server/net/tls_files.h"

namespace tern::server {

class Security {
 public:
  // Opens the files that the options name, and lets the context and the listeners use them.
  static Result<std::unique_ptr<Security>> Open(ServeOptions& options, ServerContext& context);
  // Begins to follow changes. Called when all ports are open.
  void Start();
  // Looks for changes now, and opens the audit log again.
  void Reload();
  void AppendMetrics(MetricsText& text) const;

 private:
  std::shared_ptr<TlsFiles> tls_;          // null: no TLS
  std::unique_ptr<AccessControl> access_;  // null: off
  std::unique_ptr<AuditLog> audit_;        // null: off
  std::unique_ptr<ReloadThread> thread_;   // declared last: it uses the others
};

}  // namespace tern::server
