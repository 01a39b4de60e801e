#include "runtime/tune/tuner.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <thread>

#include "runtime/cost/cost_model.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// Counts the calls of two kernels for Unary. The faster one has the higher estimate.
struct Calls {
  int slow = 0, quick = 0, alive = 0, max_alive = 0;
  int disturbed = 0;  // number of slow calls of the quick kernel, after its first call
  int stop_at = 0;    // the call of the slow kernel that sets `stopped`; -1 if Prepare sets `stopped`
};
Calls calls;
std::atomic<bool> stopped{false};

template <bool kSlow> class Negate : public KernelOf<Negate<kSlow>> {
 public:
  Negate() = default;
  Status Prepare(PrepareContext&) override {
    packed_ = std::shared_ptr<int>(new int(0), [](int* p) {
      --calls.alive;
      delete p;
    });
    calls.max_alive = std::max(calls.max_alive, ++calls.alive);
    if (calls.stop_at < 0) stopped = true;
    return {};
  }
  Status Run(RunContext& c) override {
    ++(kSlow ? calls.slow : calls.quick);
    if (kSlow && calls.slow == calls.stop_at) stopped = true;
    const bool disturbed = !kSlow && calls.quick > 1 && calls.quick <= 1 + calls.disturbed;
    if (kSlow || disturbed) std::this_thread::sleep_for(std::chrono::milliseconds(disturbed ? 10 : 2));
    for (int64_t i = 0; i < c.Out(0).size(); ++i) c.Out<float>(0)[i] = -c.In<float>(0)[i];
    return {};
  }

 private:
  std::shared_ptr<int> packed_;
};

KernelTable Table(double quick_cost = 2) {
  KernelTable table;
  const auto legal = [](const KernelQuery& q) { return q.AllTypes(DType::kF32); };
  table.Add<Negate<true>>("Unary", "test.slow", legal, 1);
  table.Add<Negate<false>>("Unary", "test.quick", legal, quick_cost);
  KernelEntry integer = EntryOf<Negate<false>>(
      "Unary", "test.integer", [](const KernelQuery& q) { return q.AllTypes(DType::kI32); }, 0.1);
  integer.can.why_not = [](const KernelQuery&) { return std::string("for integers"); };
  table.Add(std::move(integer));
  return table;
}

bool Rated(const std::string& algorithm) {
  const auto all = RatedAlgorithms();
  return std::any_of(all.begin(), all.end(), [&](const auto& row) { return row.first == algorithm; });
}

class TunerTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = StrCat(testing::TempDir(), "tuner_test_", getpid());
    std::filesystem::remove_all(folder_);
    calls = {};
    stopped = false;
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  SessionOptions Options(int64_t ms) {
    SessionOptions options;
    options.target = KeepTarget(*table_);
    options.tune_ms = ms;
    options.cache_dir = folder_;
    options.explain = true;
    options.threads = 1;
    return options;
  }

  std::unique_ptr<Session> Ran(const SessionOptions& options, int64_t size = 8) {
    auto session = SessionOf(ParseOrDie("graph @g(%x: f32[N]) -> (%y, %z) { %y = Neg(%x) as \"a\" "
                                        "%z = Neg(%y) as \"b\" }"),
                             options);
    const auto out = session->Run(DatumList{Counting({size})});
    EXPECT_TRUE(out.ok()) << out.status().ToString();
    return session;
  }

  std::optional<KernelTable> table_{Table()};
  std::string folder_;
};

TEST_F(TunerTest, EstimatesDecideWithoutABudget) {
  SessionOptions options = Options(0);
  options.cache_dir.reset();
  const auto session = Ran(options);
  const std::vector<Choice> choices = session->Choices();
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].kernel, "test.slow");
  EXPECT_EQ(choices[0].reason, Reason::kEstimated);
  ASSERT_EQ(choices[0].candidates.size(), 3u);
  EXPECT_EQ(choices[0].candidates[1].kernel, "test.quick");
  EXPECT_GT(choices[0].candidates[1].estimated_us, choices[0].candidates[0].estimated_us);
  EXPECT_EQ(choices[0].candidates[1].measured_us, 0);
  EXPECT_FALSE(choices[0].candidates[2].legal);
  EXPECT_EQ(choices[0].candidates[2].why_not, "for integers");
}

// The timer checks the deadline and the cancel flag before each run of a kernel.
TEST_F(TunerTest, AStopEndsAMeasurementBeforeTheNextRun) {
  for (const int at : {-1, 1, 2, 3}) {
    calls = {};
    calls.stop_at = at;
    stopped = false;
    const auto session =
        SessionOf(ParseOrDie("graph @g(%x: f32[8]) -> (%y) { %y = Neg(%x) }"), Options(60'000));
    Stop stop;
    stop.cancel = &stopped;
    session->SetStop(stop);
    const auto out = session->Run(DatumList{Counting({8})});
    EXPECT_EQ(out.status().code(), Code::kCancelled) << at;
    EXPECT_EQ(calls.slow, std::max(at, 0));
    EXPECT_EQ(calls.quick, 0);
    EXPECT_EQ(session->Tuning().measured, 0);
    EXPECT_FALSE(std::filesystem::exists(folder_));
    session->SetStop({});
    EXPECT_TRUE(session->Run(DatumList{Counting({8})}).ok());
  }
}

TEST_F(TunerTest, MeasuresOnceAndRemembers) {
  {
    const auto session = Ran(Options(1000));
    ASSERT_EQ(session->Choices().size(), 2u);
    for (const Choice& choice : session->Choices()) {
      EXPECT_EQ(choice.kernel, "test.quick");
      EXPECT_EQ(choice.reason, Reason::kMeasured);
      EXPECT_GT(choice.candidates[0].measured_us, 1000) << choice.candidates[0].kernel;
    }
    const TuneReport report = session->Tuning();
    EXPECT_EQ(report.measured, 1) << "both nodes have the same key";
    EXPECT_TRUE(report.written.ok());
    EXPECT_TRUE(std::filesystem::exists(report.record));
  }
  for (const int64_t ms : {1000, 0}) {
    calls = {};
    const auto second = Ran(Options(ms));
    EXPECT_EQ(calls.slow, 0);
    EXPECT_EQ(calls.quick, 2) << "the run itself, no measurement";
    EXPECT_EQ(second->Choices()[0].kernel, "test.quick");
    EXPECT_EQ(second->Choices()[0].reason, Reason::kRecorded);
    EXPECT_EQ(second->Tuning().measured, 0);
    EXPECT_EQ(second->Tuning().recorded, 1);
  }
  const auto other = Ran(Options(1000), 16);
  EXPECT_EQ(other->Tuning().measured, 1) << "other dims";
}

TEST_F(TunerTest, FreesTheWeightsOfACandidateBeforeTheNext) {
  const auto session = SessionOf(ParseOrDie("graph @g(%x: f32[8]) -> (%y) { %y = Neg(%x) }"), Options(1000));
  ASSERT_TRUE(session->Run(DatumList{Counting({8})}).ok());
  EXPECT_EQ(session->Tuning().measured, 1);
  EXPECT_EQ(calls.max_alive, 1);
}

TEST_F(TunerTest, MeasuresAtLeastThreeRuns) {
  for (const int disturbed : {1, 2}) {
    calls.disturbed = disturbed;
    calls.quick = 0;
    SessionOptions options = Options(1000);
    options.cache_dir = "";
    EXPECT_EQ(Ran(options)->Choices()[0].kernel, "test.quick") << disturbed;
  }
}

// There is one warm-up run and three measured runs.
TEST_F(TunerTest, StopsAfterThreeRunsOfASlowKernel) {
  calls.disturbed = 1000;
  EXPECT_EQ(Ran(Options(1000))->Choices()[0].kernel, "test.slow");
  EXPECT_EQ(calls.quick, 4);
}

TEST_F(TunerTest, StaysWithinItsBudget) {
  const auto session = Ran(Options(1));
  EXPECT_EQ(session->Choices()[0].kernel, "test.slow") << "the budget does not suffice for both kernels";
  EXPECT_EQ(session->Choices()[0].reason, Reason::kEstimated);
  EXPECT_LT(session->Tuning().milliseconds, 100);
  EXPECT_FALSE(std::filesystem::exists(session->Tuning().record));
}

TEST_F(TunerTest, MeasuresAndExplainsSubgraphs) {
  const auto session = SessionOf(ParseOrDie(R"(graph @g(%n: i64[], %x: f32[8]) -> (%last, %y) {
    #go: bool[] = (true)
    %last = Loop(%n, #go, %x) [body @b(%i: i64[], %cond: bool[], %s: f32[8]) -> (%cond, %t) {
      %t = Neg(%s) as "inner"
    }]
    %y = Neg(%x) as "outer"
  })"),
                                 Options(1000));
  const auto names_after = [&](int64_t iterations) {
    const auto out =
        session->Run(DatumList{Tensor::Scalar(DType::kI64, static_cast<double>(iterations)), Counting({8})});
    EXPECT_TRUE(out.ok()) << out.status().ToString();
    std::vector<std::string> names;
    for (const Choice& choice : session->Choices()) {
      names.push_back(choice.node->name);
      EXPECT_EQ(choice.kernel, "test.quick");
      EXPECT_EQ(choice.reason, Reason::kMeasured);
      EXPECT_FALSE(choice.in_run);
    }
    return names;
  };
  EXPECT_EQ(names_after(0), std::vector<std::string>{"outer"}) << "the body never ran";
  EXPECT_EQ(names_after(2), (std::vector<std::string>{"outer", "inner"}));
}

TEST_F(TunerTest, MeasuresOnlyWithinTheEstimateLimit) {
  table_.emplace(Table(4));
  EXPECT_EQ(Ran(Options(1000))->Choices()[0].kernel, "test.slow");
  SessionOptions all = Options(1000);
  all.tune_within = 10;
  EXPECT_EQ(Ran(all)->Choices()[0].kernel, "test.quick");
}

TEST_F(TunerTest, WritesNothingWithoutACacheFolder) {
  SessionOptions options = Options(1000);
  options.cache_dir = "";
  EXPECT_EQ(Ran(options)->Choices()[0].kernel, "test.quick");
  EXPECT_EQ(Ran(options)->Tuning().measured, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(TunerTest, IgnoresRecordedKernelsThatNoLongerExist) {
  const auto first = Ran(Options(1000));
  const RecordKey key = RecordKeyFor(DefaultTarget().isa());
  Measurements all = *ReadRecord(first->Tuning().record, key);
  ASSERT_EQ(all.size(), 1u);
  all.begin()->second[0].kernel = "test.gone";
  ASSERT_TRUE(AddToRecord(first->Tuning().record, all, key).ok());
  SessionOptions no_time = Options(0);
  EXPECT_EQ(Ran(no_time)->Choices()[0].kernel, "test.slow");
  EXPECT_EQ(Ran(Options(1000))->Tuning().measured, 1);
}

TEST_F(TunerTest, RefusesInvalidBudgets) {
  const auto graph = ParseOrDie("graph @g(%x: f32[N]) -> (%y) { %y = Neg(%x) }");
  for (const int64_t ms : {int64_t{-5}, int64_t{600'001}}) {
    const auto session = Session::Create(graph, Options(ms));
    ASSERT_FALSE(session.ok());
    EXPECT_NE(session.status().ToString().find(StrCat("tune_ms ", ms, " is not between 0 and 600000")),
              std::string::npos)
        << session.status().ToString();
  }
  SessionOptions options = Options(1);
  options.tune_within = std::nan("");
  EXPECT_FALSE(Session::Create(graph, options).ok());
}

// If the record lacks a candidate, all candidates are measured again.
TEST_F(TunerTest, MeasuresCandidatesThatTheRecordLacks) {
  table_.emplace(Table(2));
  table_->Add<Negate<false>>(
      "Unary", "test.far", [](const KernelQuery& q) { return q.AllTypes(DType::kF32); }, 100);
  EXPECT_EQ(Ran(Options(1000))->Tuning().measured, 1);
  SessionOptions all = Options(1000);
  all.tune_within = 1e9;
  const auto measured_of = [](const Session& session, const std::string& kernel) {
    const std::vector<Choice> choices = session.Choices();
    for (const Candidate& c : choices[0].candidates)
      if (c.kernel == kernel) return c.measured_us;
    return -1.0;
  };
  const auto second = Ran(all);
  EXPECT_EQ(second->Tuning().measured, 1);
  EXPECT_GT(measured_of(*second, "test.far"), 0);
  EXPECT_EQ(Ran(all)->Tuning().measured, 0);
  const auto plain = Ran(Options(1000));
  EXPECT_EQ(plain->Tuning().measured, 0) << "all candidates are recorded";
  EXPECT_GT(measured_of(*plain, "test.far"), 0);
}

TEST_F(TunerTest, ReportsARecordThatCannotBeReadOrWritten) {
  const auto first = Ran(Options(1000));
  std::filesystem::resize_file(first->Tuning().record, kMaxRecordBytes + 1);
  const TuneReport report = Ran(Options(1000))->Tuning();
  EXPECT_EQ(report.measured, 1);
  for (const Status& status : {report.read, report.written})
    EXPECT_NE(status.ToString().find(report.record), std::string::npos) << status.ToString();
}

// Holds the record's lock, like another process.
class Holder {
 public:
  explicit Holder(const std::string& record)
      : fd_(open((record + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    EXPECT_EQ(flock(fd_, LOCK_EX), 0);
  }
  Holder(const Holder&) = delete;
  ~Holder() { close(fd_); }

 private:
  const int fd_;
};

class LockedRecord : public TunerTest {
 protected:
  void SetUp() override {
    TunerTest::SetUp();
    std::filesystem::create_directories(folder_);
    path_ = RecordPath(folder_, RecordKeyFor(DefaultTarget().isa()));
    holder_.emplace(path_);
    session_ = Ran(Options(1000));
    EXPECT_EQ(session_->Tuning().measured, 1);
    EXPECT_FALSE(session_->Tuning().written.ok());
  }
  size_t Lines() const { return ReadRecord(path_, RecordKeyFor(DefaultTarget().isa()))->size(); }

  std::string path_;
  std::optional<Holder> holder_;
  std::unique_ptr<Session> session_;
};

TEST_F(LockedRecord, IsWrittenWithALaterPlan) {
  holder_.reset();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const auto clone = session_->Clone();
  ASSERT_TRUE(clone->Run(DatumList{Counting({9})}).ok());
  EXPECT_EQ(clone->Tuning().measured, 2);
  EXPECT_TRUE(clone->Tuning().written.ok()) << clone->Tuning().written.ToString();
  EXPECT_EQ(Lines(), 2u);
}

// Compilations without new measurements retry the write once a second and do not wait for the lock.
TEST_F(LockedRecord, DoesNotDelayPlans) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(session_->Clone()->Run(DatumList{Counting({8})}).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(500));
  EXPECT_NE(session_->Tuning().written.ToString().find("for more than 100 ms"), std::string::npos)
      << session_->Tuning().written.ToString();
  EXPECT_EQ(Lines(), 0u);
}

TEST_F(LockedRecord, IsWrittenWhenTheLastSessionEnds) {
  holder_.reset();
  auto clone = session_->Clone();
  session_.reset();
  EXPECT_EQ(Lines(), 0u);
  clone.reset();
  EXPECT_EQ(Lines(), 1u);
}

TEST_F(LockedRecord, DoesNotDelayTheEndOfASession) {
  const auto start = std::chrono::steady_clock::now();
  session_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  EXPECT_EQ(Lines(), 0u);
}

// A kernel that runs out of memory in one of its calls.
enum class Call { kPrepare, kResize, kRun };
template <Call kCall> class OutOfMemory : public KernelOf<OutOfMemory<kCall>> {
 public:
  Status Prepare(PrepareContext&) override { return Allocate(Call::kPrepare); }
  Status Resize(ResizeContext&) override { return Allocate(Call::kResize); }
  Status Run(RunContext&) override { return Allocate(Call::kRun); }

 private:
  static Status Allocate(Call call) {
    if (call == kCall) throw std::bad_alloc();
    return {};
  }
};

template <Call kCall> KernelTable WithOutOfMemory() {
  KernelTable table = Table();
  table.Add<OutOfMemory<kCall>>(
      "Unary", "test.out_of_memory", [](const KernelQuery& q) { return q.AllTypes(DType::kF32); }, 2.5);
  return table;
}

TEST_F(TunerTest, AKernelThatRunsOutOfMemoryIsNotChosenAndDoesNotFailTheRun) {
  for (const auto make :
       {WithOutOfMemory<Call::kPrepare>, WithOutOfMemory<Call::kResize>, WithOutOfMemory<Call::kRun>}) {
    table_.emplace(make());
    const auto session = Ran(Options(1000));
    ASSERT_EQ(session->Choices().size(), 2u);
    EXPECT_EQ(session->Choices()[0].kernel, "test.slow") << "not all candidates could be measured";
    EXPECT_EQ(session->Tuning().measured, 0);
    EXPECT_GE(session->Tuning().milliseconds, 5) << "the time for the other kernels counts";
  }
}

// Returns weights that are all different, so that swapped weights change the result.
std::string RandomWeights(int64_t count) {
  std::string text;
  uint32_t state = 7;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    text += StrCat(i ? ", " : "", static_cast<double>(static_cast<int32_t>(state)) * 0x1p-31);
  }
  return text;
}

// Uses the CPU's kernels instead of test kernels. All legal kernels are measured, and the result equals the
// reference up to rounding.
TEST_F(TunerTest, TunesConvolutions) {
  const auto graph = ParseOrDie(StrCat("graph @g(%x: f32[1,20,20,16]) -> (%y) {\n  #w: f32[32,16,3,3] = (",
                                       RandomWeights(32 * 16 * 9),
                                       ")\n  %y = Conv(%x, #w) {channels_last=true,pads=[1,1,1,1]}\n}"));
  SessionOptions options = Options(60'000);
  options.target = nullptr;
  options.tune_within = 1e9;
  const auto tuned = SessionOf(graph, options);
  Tensor x(DType::kF32, {1, 20, 20, 16});
  for (int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = std::sin(static_cast<float>(i));
  const auto got = tuned->Run(DatumList{x}), want = EvaluateGraph(*graph, DatumList{x});
  ASSERT_TRUE(got.ok() && want.ok());
  const auto a = ToDoubles((*got)[0].tensor), b = ToDoubles((*want)[0].tensor);
  ASSERT_EQ(a.size(), b.size());
  double sum = 0;
  for (double v : b) sum += v * v;
  const double magnitude = std::sqrt(sum / static_cast<double>(b.size()));
  EXPECT_GT(magnitude, 1);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4 * magnitude) << i;
  int measured = 0;
  const Choice choice = tuned->Choices().back();
  for (const Candidate& c : choice.candidates) {
    EXPECT_EQ(c.measured_us > 0, c.legal) << c.kernel;
    const bool has_why_not =
        c.kernel.find("nhwc") != std::string::npos || c.kernel.find("winograd") != std::string::npos;
    EXPECT_TRUE(c.legal || !has_why_not || !c.why_not.empty()) << c.kernel;
    measured += c.measured_us > 0;
    for (const Work& w : c.work) EXPECT_TRUE(Rated(w.algorithm)) << w.algorithm;
  }
  EXPECT_GE(measured, 5) << "direct, im2col, three of Winograd's, im2col_nchw";
}

}  // namespace
}  // namespace tern
