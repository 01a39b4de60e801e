// The metrics of access control.
#include "server/access/access.h"
#include "server/observe/metrics_text.h"

namespace tern::server {
namespace {

// Further tenants are added up, so that the number of labels is bounded.
constexpr size_t kMaxTenants = 100;
constexpr const char* kOthers = "(others)";

struct Row {
  std::string name;
  uint64_t requests = 0, bytes = 0, in_flight = 0, queued_bytes = 0;
  std::array<uint64_t, kQuotaKinds> refused{};
  void Add(const Tenant& tenant) {
    requests += tenant.requests();
    bytes += tenant.bytes();
    in_flight += tenant.in_flight();
    queued_bytes += tenant.queued_bytes();
    for (int k = 0; k < kQuotaKinds; ++k)
      refused[static_cast<size_t>(k)] += tenant.refused(static_cast<QuotaKind>(k));
  }
};

std::vector<Row> RowsOf(const std::vector<std::shared_ptr<Tenant>>& tenants) {
  std::vector<Row> rows;
  for (const auto& tenant : tenants) {
    if (rows.size() < kMaxTenants)
      rows.push_back({tenant->name()});
    else if (rows.size() == kMaxTenants)
      rows.push_back({kOthers});
    rows.back().Add(*tenant);
  }
  return rows;
}

constexpr const char* kKinds[kQuotaKinds] = {"rate", "concurrency", "bytes", "queued_bytes"};

void AppendTenants(const std::vector<Row>& rows, MetricsText& text) {
  struct Figure {
    const char *name, *type, *help;
    uint64_t Row::*value;
  };
  constexpr Figure kFigures[] = {
      {"tern_tenant_requests_total", "counter", "Requests of a tenant, with those that its quota refused",
       &Row::requests},
      {"tern_tenant_request_bytes_total", "counter", "Bytes of the bodies of a tenant's inferences",
       &Row::bytes},
      {"tern_tenant_in_flight", "gauge", "Inferences of a tenant that wait or run", &Row::in_flight},
      {"tern_tenant_queued_bytes", "gauge", "Bytes of a tenant's inferences that wait or run",
       &Row::queued_bytes}};
  for (const Figure& figure : kFigures) {
    text.Family(figure.name, figure.type, figure.help);
    for (const Row& row : rows) text.Sample(figure.name, {{"tenant", row.name}}, row.*figure.value);
  }
  constexpr const char* kRefused = "tern_tenant_refused_total";
  text.Family(kRefused, "counter", "Requests that a tenant's quota refused");
  for (const Row& row : rows)
    for (size_t k = 0; k < row.refused.size(); ++k)
      text.Sample(kRefused, {{"tenant", row.name}, {"quota", kKinds[k]}}, row.refused[k]);
}

}  // namespace

void AccessControl::AppendMetrics(MetricsText& text) {
  const auto count = [&](Outcome outcome) {
    return outcomes_[static_cast<size_t>(outcome)].load(std::memory_order_relaxed);
  };
  constexpr const char* kRefused = "tern_access_refused_total";
  text.Family(kRefused, "counter", "Requests that access control refused");
  text.Sample(kRefused, {{"reason", "missing"}}, count(Outcome::kMissing));
  text.Sample(kRefused, {{"reason", "invalid"}}, count(Outcome::kInvalid));
  text.Sample(kRefused, {{"reason", "denied"}}, count(Outcome::kDenied));
  text.Sample(kRefused, {{"reason", "blocked"}}, count(Outcome::kBlocked));
  text.Family("tern_access_blocked_addresses", "gauge",
              "Addresses that presented wrong credentials too often");
  text.Sample("tern_access_blocked_addresses", {}, failures_.blocked_addresses(Clock::now()));
  text.Family("tern_access_entries", "gauge", "Entries of the access file");
  text.Sample("tern_access_entries", {}, uint64_t{entries()});
  constexpr const char* kReloads = "tern_access_reloads_total";
  text.Family(kReloads, "counter", "Changes of the access file, by whether they were usable");
  text.Sample(kReloads, {{"result", "success"}}, reloads_.load(std::memory_order_relaxed));
  text.Sample(kReloads, {{"result", "failure"}}, failed_reloads_.load(std::memory_order_relaxed));
  AppendTenants(RowsOf(tenants_.All()), text);
}

}  // namespace tern::server
