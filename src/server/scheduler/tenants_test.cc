// Two tenants share a model, in virtual time.
#include <algorithm>
#include <random>

#include "server/access/tenant.h"
#include "server/scheduler/call_queue.h"
#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

constexpr double kService = 0.005;  // seconds of an execution, so the capacity is 200 requests/s
constexpr double kSeconds = 200;

struct Arrival {
  double time = 0;
  uint32_t tenant = 0;
};

// Returns the Poisson arrivals of a tenant that its quota lets pass. A quota of 0 lets everything pass.
std::vector<Arrival> Arrivals(uint32_t tenant, double rate, double quota) {
  std::mt19937_64 random(tenant);
  std::exponential_distribution<double> gap(rate);
  QuotaBucket limit;
  std::vector<Arrival> passed;
  const auto begin = Clock::now();
  for (double time = gap(random); time < kSeconds; time += gap(random)) {
    const auto now = begin + duration_cast<nanoseconds>(std::chrono::duration<double>(time));
    if (quota <= 0 || limit.Take(1, quota, quota / 10, false, now).count() == 0)
      passed.push_back({time, tenant});
  }
  return passed;
}

// Serves one request after the other. Returns the p99 latency of tenant 2. `fair`: the queue knows the
// tenants.
double P99(std::vector<Arrival> arrivals, bool fair, double service = kService) {
  std::sort(arrivals.begin(), arrivals.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
  CallQueue queue{BatchingConfig()};
  std::vector<double> latencies;
  double free = 0;
  size_t next = 0;
  while (next < arrivals.size() || !queue.empty()) {
    if (queue.empty()) free = std::max(free, arrivals[next].time);
    for (; next < arrivals.size() && arrivals[next].time <= free; ++next) {
      auto queued = std::make_shared<QueuedCall>();
      queued->call = std::make_shared<TestCall>();
      queued->call->request.id = std::to_string(next);
      queued->call->request.tenant = fair ? arrivals[next].tenant : 0;
      EXPECT_TRUE(queue.Push(queued, Clock::time_point()).ok());
    }
    QueuedCallPtr first;
    queue.ForEach([&](const QueuedCallPtr& call) { return first = call, false; });
    queue.Take(*first);
    free += service;
    const Arrival& arrival = arrivals[std::stoul(first->call->request.id)];
    if (arrival.tenant == 2) latencies.push_back(free - arrival.time);
  }
  std::sort(latencies.begin(), latencies.end());
  return latencies[latencies.size() * 99 / 100];
}

double P99Beside(double greedy_rate, double quota, bool fair) {
  std::vector<Arrival> all = Arrivals(2, 40, quota);
  const std::vector<Arrival> greedy = Arrivals(1, greedy_rate, quota);
  all.insert(all.end(), greedy.begin(), greedy.end());
  return P99(std::move(all), fair);
}

TEST(Tenants, TenTimesAQuotaDelaysTheOtherTenantLittle) {
  const double once = P99Beside(80, 80, true), ten_times = P99Beside(800, 80, true);
  EXPECT_LE(ten_times, 1.2 * once) << once << " s";
}

TEST(Tenants, WithoutQuotasTheQueueIsSharedFairly) {
  const double with_half = P99(Arrivals(2, 40, 0), true, 2 * kService);
  // The greedy tenant sends three times what the model can do.
  EXPECT_LE(P99Beside(600, 0, true), with_half + kService) << "as if it had half of the model for itself";
  EXPECT_GT(P99Beside(600, 0, false), 10) << "a queue in the order of arrival grows without end";
}

}  // namespace
}  // namespace tern::server
