// Decides who may do what. Front ends call Enter before they read the body of a request.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "server/access/failure_limit.h"
#include "server/access/identity.h"
#include "server/access/watched_file.h"
#include "server/net/stream.h"

namespace tern::server {

class MetricsText;
struct AccessEntry;

struct AccessOptions {
  std::string file;              // of tokens and certificates; empty: access control is off
  bool open_health = true;       // everyone may ask whether the server lives and is ready
  bool open_metrics = false;     // everyone may read /metrics
  int failures_per_minute = 30;  // wrong credentials that an address may present; 0: no limit
};

// The credentials that a request presents.
struct Credentials {
  size_t fields = 0;                             // number of Authorization fields
  std::string_view authorization;                // the value of the first one
  const PeerCertificate* certificate = nullptr;  // signed by the client authority; null: none
  uint64_t address = 0;                          // AddressKey of the peer
};

struct Operation {
  ApiGroup group = ApiGroup::kNone;
  Right right = Right::kAdmin;
};

// Why a request is refused. The texts are the same whether or not a token or a model exists.
struct Refusal {
  enum class Kind : uint8_t { kNone, kUnauthenticated, kDenied, kExhausted };
  Kind kind = Kind::kNone;
  std::string message;
  std::chrono::milliseconds retry_after{0};
  bool refused() const { return kind != Kind::kNone; }
};

// Thread-safe.
class AccessControl {
 public:
  static Result<std::unique_ptr<AccessControl>> Open(const AccessOptions& options);

  // Identifies the sender and checks that it has the right to the operation. Counts the request against the
  // rate of its tenant, unless the request asks only for health.
  Refusal Enter(const Credentials& credentials, const Operation& operation, Visitor& visitor);
  // Refuses a request whose model the visitor must not use, whether or not the model exists.
  Refusal CheckModel(const Visitor& visitor, std::string_view model);
  // Refuses an operation on all models for a visitor that is limited to some.
  Refusal CheckAllModels(const Visitor& visitor);
  Refusal CheckRight(const Visitor& visitor, Right right);
  // For long streams: refuses if the identity has expired or was revoked.
  Refusal CheckValid(const Visitor& visitor);
  // Counts one more request of a stream against the rate of its tenant.
  Refusal CountRequest(const Visitor& visitor);
  // Counts an inference of `bytes` bytes against the quota of its tenant, until the permit is destroyed. Grow
  // adds bytes that were not known before.
  Refusal Admit(const Visitor& visitor, uint64_t bytes, Permit& permit);
  Refusal Grow(const Visitor& visitor, uint64_t bytes, Permit& permit);

  // Reads the file again if it changed. If it has errors, logs them and keeps the old entries.
  void Reload();
  void AppendMetrics(MetricsText& text);
  size_t entries() const;

 private:
  struct Table;
  enum class Outcome { kAccepted, kMissing, kInvalid, kDenied, kBlocked };

  explicit AccessControl(const AccessOptions& options);
  Status Load();
  std::shared_ptr<const Table> MakeTable(const std::vector<AccessEntry>& entries);
  Outcome Identify(const Credentials& credentials, Visitor& visitor);
  bool OpenToAll(const Operation& operation) const;
  Refusal Deny(const Visitor& visitor);
  Refusal Refuse(Outcome outcome, std::chrono::milliseconds retry_after = {});
  uint64_t KeyOf(const std::array<uint8_t, 32>& hash) const;

  const AccessOptions options_;
  const uint64_t seed_;
  TenantBook tenants_;
  FailureLimit failures_;
  std::shared_ptr<const Table> table_;  // read and replaced atomically
  std::array<std::atomic<uint64_t>, 5> outcomes_{};
  std::atomic<uint64_t> reloads_{0}, failed_reloads_{0};

  std::mutex mutex_;  // guards the members below
  WatchedFile file_;
  std::string last_error_;
};

}  // namespace tern::server
