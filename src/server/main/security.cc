#include "server/main/security.h"

#include "server/core/log.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

bool IsLocal(const std::string& address) {
  return StartsWith(address, "127.") || address == "::1" || address == "localhost" ||
         StartsWith(address, "unix:");
}

// Tokens can be read on the way if there is no TLS.
void WarnOfClearText(const ServeOptions& options) {
  const struct {
    const char* name;
    bool served;
    const ListenOptions& listen;
  } ports[] = {{"HTTP", options.serve_http, options.http.listen},
               {"gRPC", options.serve_grpc, options.grpc.listen},
               {"metrics", options.serve_metrics && !options.access.open_metrics, options.metrics}};
  for (const auto& port : ports)
    if (port.served && port.listen.tls.certificate.empty() && !IsLocal(port.listen.address))
      Log(LogLevel::kWarning, StrCat("the ", port.name, " port at ", port.listen.address,
                                     " has no TLS: tokens travel in clear text"));
}

}  // namespace

Result<std::unique_ptr<Security>> Security::Open(ServeOptions& options, ServerContext& context) {
  auto security = std::make_unique<Security>();
  const TlsOptions& tls = options.http.listen.tls;
  if (!tls.certificate.empty()) {
    TERN_ASSIGN(security->tls_, TlsFiles::Open(tls));
    options.http.listen.tls.files = options.grpc.listen.tls.files = security->tls_;
    if (options.metrics_tls) options.metrics.tls = options.http.listen.tls;
  }
  if (!options.access.file.empty()) {
    TERN_ASSIGN(security->access_, AccessControl::Open(options.access));
    context.access = security->access_.get();
    WarnOfClearText(options);
  }
  if (!options.audit.file.empty()) {
    TERN_ASSIGN(security->audit_, AuditLog::Open(options.audit));
    context.audit = security->audit_.get();
  }
  return security;
}

void Security::Start() {
  std::vector<std::function<void()>> functions;
  if (tls_) functions.emplace_back([tls = tls_.get()] { tls->Reload(); });
  if (access_) functions.emplace_back([access = access_.get()] { access->Reload(); });
  if (!functions.empty()) thread_ = std::make_unique<ReloadThread>(std::move(functions));
}

void Security::Reload() {
  if (audit_) audit_->Reopen();
  if (thread_) thread_->Wake();
}

void Security::AppendMetrics(MetricsText& text) const {
  if (tls_) tls_->AppendMetrics(text);
  if (access_) access_->AppendMetrics(text);
  if (!audit_) return;
  text.Family("tern_audit_failures_total", "counter", "Lines that could not be written to the audit log");
  text.Sample("tern_audit_failures_total", {}, audit_->failures());
}

}  // namespace tern::server
