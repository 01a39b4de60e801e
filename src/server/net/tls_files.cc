#include "server/net/tls_files.h"

#include "server/access/access_file.h"
#include "server/core/log.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

using SystemClock = std::chrono::system_clock;
using std::chrono::hours;

// The server warns of a certificate once for each of these times before it expires. The last warning comes
// when the certificate has expired.
constexpr hours kWarnings[] = {hours(30 * 24), hours(7 * 24), hours(24), hours(1), hours(0)};

TlsOptions WithoutFiles(TlsOptions options) {
  options.files = nullptr;
  return options;
}

std::string ExpiresText(SystemClock::time_point time) {
  return time == SystemClock::time_point::max() ? "expires after 2261" : StrCat("expires ", TimeText(time));
}

}  // namespace

TlsFiles::TlsFiles(const TlsOptions& options)
    : options_(WithoutFiles(options)),
      certificate_(options.certificate),
      key_(options.key),
      client_ca_(options.client_ca) {}

Result<std::shared_ptr<TlsFiles>> TlsFiles::Open(const TlsOptions& options) {
  std::shared_ptr<TlsFiles> files(new TlsFiles(options));
  const std::lock_guard lock(files->mutex_);
  TERN_TRY(files->Refresh());
  files->stale_ = false;
  return files;
}

// Sets stale_ if a file changed.
Status TlsFiles::Refresh() {
  const std::pair<const char*, WatchedFile*> files[] = {
      {"TLS certificate", &certificate_}, {"TLS key", &key_}, {"certificate authority", &client_ca_}};
  for (const auto& [what, file] : files) {
    const Result<bool> changed = file->Refresh();
    if (!changed.ok())
      return InvalidArgument("cannot read the ", what, " '", file->path(), "': ", changed.status().message());
    stale_ |= *changed;
  }
  return {};
}

Status TlsFiles::Attach(const std::shared_ptr<TlsContext>& context) {
  const std::lock_guard lock(mutex_);
  TERN_TRY(context->Replace(Material()));
  contexts_.push_back(context);
  expires_ = context->expires();
  WarnOfExpiry();
  return {};
}

Status TlsFiles::ReplaceAll() {
  std::erase_if(contexts_, [](const auto& context) { return context.expired(); });
  for (const auto& weak : contexts_) {
    const auto context = weak.lock();
    if (!context) continue;
    TERN_TRY(context->Replace(Material()));
    expires_ = context->expires();
  }
  return {};
}

void TlsFiles::Reload() {
  const std::lock_guard lock(mutex_);
  Status status = Refresh();
  if (status.ok() && stale_) status = ReplaceAll();
  if (status.ok() && std::exchange(stale_, false)) {
    reloads_.fetch_add(1, std::memory_order_relaxed);
    warned_ = 0;
    Log(LogLevel::kInfo, StrCat("TLS: new connections use the new certificate of '", options_.certificate,
                                "', which ", ExpiresText(expires_)));
  }
  const bool again = !status.ok() && status.message() == last_error_;
  logged_ &= again;
  last_error_ = status.message();
  if (again && !std::exchange(logged_, true)) {
    failures_.fetch_add(1, std::memory_order_relaxed);
    Log(LogLevel::kError, StrCat("TLS: ", last_error_, "; the old certificate, which ", ExpiresText(expires_),
                                 ", stays in use"));
  }
  WarnOfExpiry();
}

void TlsFiles::WarnOfExpiry() {
  const auto left = expires_ - SystemClock::now();
  int reached = 0;
  for (const hours limit : kWarnings) reached += left <= limit;
  if (reached <= warned_) return;
  warned_ = reached;
  const auto whole = std::chrono::duration_cast<hours>(left).count();
  const std::string when = left <= hours(0) ? "has expired: clients refuse it"
                           : whole >= 48    ? StrCat("expires in ", whole / 24, " days")
                                            : StrCat("expires in ", whole, " hours");
  Log(left <= hours(24) ? LogLevel::kError : LogLevel::kWarning,
      StrCat("TLS: the certificate '", options_.certificate, "' ", when, " (", TimeText(expires_), ")"));
}

SystemClock::time_point TlsFiles::expires() const {
  const std::lock_guard lock(mutex_);
  return expires_;
}

void TlsFiles::AppendMetrics(MetricsText& text) const {
  text.Family("tern_tls_certificate_remaining_seconds", "gauge",
              "Time until the certificate that new connections use expires; negative: it has expired");
  text.Sample("tern_tls_certificate_remaining_seconds", {},
              std::chrono::duration<double>(expires() - SystemClock::now()).count());
  text.Family("tern_tls_reloads_total", "counter",
              "Changes of the certificate files, by whether they were usable");
  text.Sample("tern_tls_reloads_total", {{"result", "success"}}, reloads_.load(std::memory_order_relaxed));
  text.Sample("tern_tls_reloads_total", {{"result", "failure"}}, failures_.load(std::memory_order_relaxed));
}

}  // namespace tern::server
