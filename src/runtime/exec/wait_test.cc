// Tests sessions that wait while another session of the same model compiles.
#include <thread>

#include "base/cores.h"
#include "base/thread_pool.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Kernels block in Run until `open` is set.
struct Gate {
  std::atomic<bool> entered{false}, open{false};
};
Gate gate;

template <int kWhich> class Gated : public KernelOf<Gated<kWhich>> {
 public:
  Status Run(RunContext& c) override {
    gate.entered = true;
    while (!gate.open) std::this_thread::sleep_for(milliseconds(1));
    for (int64_t i = 0; i < c.Out(0).size(); ++i) c.Out<float>(0)[i] = -c.In<float>(0)[i];
    return {};
  }
};

// A session in another thread tunes its plan until the gate is opened.
class SessionsWait : public testing::Test {
 protected:
  void SetUp() override {
    gate.entered = gate.open = false;
    const auto legal = [](const KernelQuery& q) { return q.AllTypes(DType::kF32); };
    table_.Add<Gated<0>>("Unary", "test.one", legal, 1);
    table_.Add<Gated<1>>("Unary", "test.two", legal, 1.5);
    SessionOptions options;
    options.target = KeepTarget(table_);
    options.tune_ms = 60'000;
    options.cache_dir = "";
    first_ = SessionOf(ParseOrDie("graph @g(%x: f32[N]) -> (%y) { %y = Neg(%x) }"), options);
    second_ = first_->Clone();
    thread_ = std::thread([&] { done_ = first_->Run(DatumList{Counting({8})}).status(); });
    while (!gate.entered) std::this_thread::sleep_for(milliseconds(1));
  }
  void TearDown() override {
    gate.open = true;
    thread_.join();
    EXPECT_TRUE(done_.ok()) << done_.ToString();
    second_->SetStop({});
    EXPECT_TRUE(second_->Run(DatumList{Counting({8})}).ok()) << "the session stays usable";
    EXPECT_EQ(second_->Tuning().measured, 1);
  }
  void ExpectCancelled(const std::string& why) {
    const Status status = second_->Run(DatumList{Counting({8})}).status();
    EXPECT_EQ(status.code(), Code::kCancelled);
    EXPECT_EQ(status.message(), why + ": it waited for another session that compiles the plan");
    EXPECT_FALSE(gate.open);
  }

  KernelTable table_;
  std::unique_ptr<Session> first_, second_;
  std::thread thread_;
  Status done_;
};

TEST_F(SessionsWait, NotBeyondTheirDeadline) {
  Stop stop;
  stop.deadline = Clock::now() + milliseconds(20);
  second_->SetStop(stop);
  ExpectCancelled("the run did not end before its deadline");
}

TEST_F(SessionsWait, NotOnceTheyAreCancelled) {
  std::atomic<bool> cancel{false};
  Stop stop;
  stop.cancel = &cancel;
  second_->SetStop(stop);
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    cancel = true;
  });
  ExpectCancelled("the run was cancelled");
  other.join();
}

// Prepare sets `together` if two threads run its parallel loop at the same time.
std::atomic<int> packing{0};
std::atomic<bool> together{false};
class PacksTogether : public KernelOf<PacksTogether> {
 public:
  Status Prepare(PrepareContext& c) override {
    gate.entered = true;
    while (!gate.open) std::this_thread::sleep_for(milliseconds(1));
    c.workers().ParallelFor(8, 1, [](int64_t, int64_t) {
      if (++packing > 1) together = true;
      for (int i = 0; i < 200 && !together; ++i) std::this_thread::sleep_for(milliseconds(1));
      --packing;
    });
    return {};
  }
  Status Run(RunContext&) override { return {}; }
};

TEST(SessionsThatWait, LeaveTheirCoresToTheOneThatCompiles) {
  gate.entered = gate.open = false;
  KernelTable table;
  table.Add<PacksTogether>(
      "Unary", "test.packs", [](const KernelQuery&) { return true; }, 1);
  SessionOptions options;
  options.target = KeepTarget(table);
  options.threads = 2;
  std::vector<std::unique_ptr<Session>> sessions;
  sessions.push_back(SessionOf(ParseOrDie("graph @g(%x: f32[N]) -> (%y) { %y = Neg(%x) }"), options));
  for (int i = 0; i < UsableCores(); ++i) sessions.push_back(sessions[0]->Clone());
  std::vector<std::thread> threads;
  for (const auto& session : sessions) {
    threads.emplace_back([&session] { EXPECT_TRUE(session->Run(DatumList{Counting({8})}).ok()); });
    while (!gate.entered) std::this_thread::sleep_for(milliseconds(1));
  }
  std::this_thread::sleep_for(milliseconds(50));  // by now the clones wait
  gate.open = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(together);
}

TEST_F(SessionsWait, NotForReports) {
  EXPECT_EQ(second_->Tuning().measured, 0);
  EXPECT_TRUE(second_->Warnings().empty());
}

}  // namespace
}  // namespace tern
