// Tests that packed weights and variants are created once per model, without holding the model's lock. While
// one session creates them, other sessions wait, but not beyond their own deadlines. If the first session
// fails, another session creates them.
#include "runtime/model/model.h"

#include <condition_variable>
#include <cstring>
#include <thread>

#include "runtime/test_support.h"

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Controls the kernels below. After a call of HoldFirst, the first call of Pass blocks until Open is called.
// The test fails if Pass blocks for a minute.
class Script {
 public:
  void HoldFirst() {
    std::lock_guard<std::mutex> lock(mutex_);
    held_ = open_ = false;
    hold_ = true;
  }
  void Pass() {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!hold_) return;
    hold_ = false;
    held_ = true;
    changed_.notify_all();
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return open_; }));
  }
  void AwaitHeld() {
    std::unique_lock<std::mutex> lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return held_; }));
  }
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  // Returns whether this call must fail. Decrements the number of remaining failures.
  static bool Fails(std::atomic<int>& remaining) {
    return remaining.load() > 0 && remaining.fetch_sub(1) > 0;
  }

  std::atomic<int> call_count{0}, throws{0}, errors{0};

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool hold_ = false, held_ = false, open_ = false;
};
std::unique_ptr<Script> script;

// Copies the weights. Counts its calls in script->call_count, and blocks or throws if the script says so.
void Fill(const Tensor& weight, Tensor& to) {
  ++script->call_count;
  script->Pass();
  if (Script::Fails(script->throws)) throw std::bad_alloc();
  std::memcpy(to.raw(), weight.raw(), to.bytes());
}
Status End() { return Script::Fails(script->errors) ? Status(Code::kInternal, "scripted error") : Status(); }

// Multiplies the rows of input 0 by the 2 x 2 weights `w`.
Status Multiply(RunContext& c, const Tensor& w) {
  const float *x = c.In<float>(0), *m = w.data<const float>();
  for (int64_t i = 0; i < c.Out(0).size(); i += 2)
    for (int64_t j = 0; j < 2; ++j) c.Out<float>(0)[i + j] = x[i] * m[j] + x[i + 1] * m[2 + j];
  return {};
}

// Two kernels (kWhich = 0 and 1) with the same pack layout.
template <int kWhich> class PacksAlike : public KernelOf<PacksAlike<kWhich>> {
 public:
  static constexpr char kPack[] = "test.alike";
  Status Prepare(PrepareContext& c) override {
    const Tensor& w = *c.Weight(1);
    TERN_ASSIGN(packed_, c.Packed({1}, DType::kF32, w.dims(), [&](Tensor& to) { Fill(w, to); }));
    return End();
  }
  Status Run(RunContext& c) override { return Multiply(c, packed_); }

 private:
  Tensor packed_;
};

// A kernel that packs weights in Prepare without PrepareContext::Packed.
class PacksItself : public KernelOf<PacksItself> {
 public:
  static constexpr char kPack[] = "test.itself";
  Status Prepare(PrepareContext& c) override {
    packed_ = c.AllocateWeights(DType::kF32, c.Weight(1)->dims());
    Fill(*c.Weight(1), packed_);
    c.Finished(1);
    return End();
  }
  Status Run(RunContext& c) override { return Multiply(c, packed_); }

 private:
  Tensor packed_;
};

constexpr size_t kPackBytes = 16;
constexpr char kWaited[] = ": it waited for another session that packs the same weights";

Stop Passed() {
  Stop stop;
  stop.deadline = Clock::now();
  return stop;
}

KernelTable PackingKernels() {
  KernelTable table;
  const auto legal = [](const KernelQuery& q) { return q.IsWeight(1); };
  table.Add<PacksAlike<0>>("MatMul", "test.one", legal, 1);
  table.Add<PacksAlike<1>>("MatMul", "test.two", legal, 2);
  table.Add<PacksItself>("MatMul", "test.itself", legal, 3);
  return table;
}

class ModelPacks : public testing::Test {
 protected:
  enum Product { kFirst, kSame, kOther };  // kSame reads the same weights as kFirst
  enum Entry { kOne, kTwo, kItself };
  using Wanted = std::vector<std::pair<Product, Entry>>;

  void SetUp() override {
    script = std::make_unique<Script>();
    SessionOptions options;
    options.target = KeepTarget(table_);
    auto model = Model::Create(ParseOrDie(R"(graph @g(%x: f32[3,2]) -> (%a, %b, %c) {
      #w: f32[2,2] = (1, 2, 3, 4)
      #v: f32[2,2] = (5, 6, 7, 8)
      %a = MatMul(%x, #w)
      %b = MatMul(%x, #w)
      %c = MatMul(%x, #v)
    })"),
                               options, Workers(1));
    ASSERT_TRUE(model.ok()) << model.status().ToString();
    model_ = *model;
  }

  Status Prepare(Product product, Entry entry, const Stop& stop = {}) {
    const Node& node = **std::next(model_->graph().nodes().begin(), product);
    KernelQuery query(*node.op, node.attrs);
    query.inputs = {{DType::kF32, {3, 2}}, {DType::kF32, {2, 2}}};
    query.outputs = {{DType::kF32, {3, 2}}};
    query.known = {nullptr, &node.input(1)->constant};
    query.weight = {false, true};
    return Guard([&] {
      auto kernel = model_->kernel_store().Prepared(node, *table_.Of("MatMul")[entry], query, nullptr, stop);
      EXPECT_TRUE(!kernel.ok() || *kernel);
      return kernel.status();
    });
  }

  // Packs for the first product in another thread, which blocks until `meanwhile` returns. Returns the status
  // of packing.
  Status WhilePacking(Entry entry, const std::function<void()>& meanwhile) {
    script->HoldFirst();
    Status got;
    std::thread thread([&] { got = Prepare(kFirst, entry); });
    script->AwaitHeld();
    meanwhile();
    script->Open();
    thread.join();
    return got;
  }
  // Prepares all these kernels concurrently. The first request packs while the other requests wait. Returns
  // the status of each request.
  std::vector<Status> AtOnce(const Wanted& wanted) {
    std::vector<Status> got(wanted.size());
    std::vector<std::thread> threads;
    got[0] = WhilePacking(wanted[0].second, [&] {
      for (size_t i = 1; i < wanted.size(); ++i)
        threads.emplace_back([&, i] { got[i] = Prepare(wanted[i].first, wanted[i].second); });
      std::this_thread::sleep_for(milliseconds(30));  // the threads most likely wait by now
    });
    for (std::thread& thread : threads) thread.join();
    return got;
  }

  const KernelTable table_ = PackingKernels();
  std::shared_ptr<Model> model_;
};

TEST_F(ModelPacks, AreNotWaitedForBeyondADeadlineOrAFlag) {
  const std::atomic<bool> cancel{true};
  Stop cancelled;
  cancelled.cancel = &cancel;
  const Status first = WhilePacking(kOne, [&] {
    for (const auto& [product, entry] : Wanted{{kFirst, kOne}, {kFirst, kTwo}, {kSame, kOne}}) {
      const Status late = Prepare(product, entry, Passed()), ended = Prepare(product, entry, cancelled);
      EXPECT_EQ(late.code(), Code::kCancelled);
      EXPECT_NE(late.message().find(StrCat("did not end before its deadline", kWaited)), std::string::npos)
          << late.message();
      EXPECT_EQ(ended.code(), Code::kCancelled);
      EXPECT_NE(ended.message().find(StrCat("was cancelled", kWaited)), std::string::npos) << ended.message();
    }
  });
  EXPECT_TRUE(first.ok()) << first.ToString();
  for (const Product product : {kFirst, kSame})
    for (const Entry entry : {kOne, kTwo}) EXPECT_TRUE(Prepare(product, entry, Passed()).ok());
  EXPECT_EQ(script->call_count, 1);
}

TEST_F(ModelPacks, DoNotBlockOtherPacksOrReports) {
  const Status first = WhilePacking(kOne, [&] {
    EXPECT_TRUE(Prepare(kOther, kOne, Passed()).ok());
    EXPECT_TRUE(Prepare(kFirst, kItself, Passed()).ok());
    EXPECT_EQ(model_->packs().size(), 1u);
    EXPECT_EQ(model_->packed_bytes(), 2 * kPackBytes);
    EXPECT_FALSE(model_->residency().Release(0));
    EXPECT_FALSE(model_->residency().HasReleased(**model_->graph().nodes().begin()));
  });
  EXPECT_TRUE(first.ok()) << first.ToString();
  EXPECT_EQ(model_->packs().size(), 2u);
  EXPECT_EQ(model_->packed_bytes(), 3 * kPackBytes);
}

TEST_F(ModelPacks, AreMadeOnceForConcurrentRequests) {
  for (const Status& got :
       AtOnce({{kFirst, kOne}, {kFirst, kOne}, {kFirst, kTwo}, {kSame, kOne}, {kSame, kTwo}, {kFirst, kOne}}))
    EXPECT_TRUE(got.ok()) << got.ToString();
  EXPECT_EQ(script->call_count, 1);
  EXPECT_EQ(model_->packed_bytes(), kPackBytes);
  EXPECT_EQ(model_->packs().size(), 1u);
}

TEST_F(ModelPacks, OfOneKernelAreMadeOnceToo) {
  for (const Status& got : AtOnce({{kFirst, kItself}, {kFirst, kItself}, {kFirst, kItself}}))
    EXPECT_TRUE(got.ok()) << got.ToString();
  EXPECT_EQ(script->call_count, 1);
  EXPECT_EQ(model_->packed_bytes(), kPackBytes);
}

TEST_F(ModelPacks, AreMadeByTheNextIfMemoryRunsOut) {
  script->throws = 1;
  const auto got = AtOnce({{kFirst, kOne}, {kFirst, kOne}, {kFirst, kTwo}, {kSame, kOne}});
  EXPECT_EQ(got[0].code(), Code::kResourceExhausted);
  for (size_t i = 1; i < got.size(); ++i) EXPECT_TRUE(got[i].ok()) << got[i].ToString();
  EXPECT_EQ(script->call_count, 2);
  EXPECT_EQ(model_->packed_bytes(), kPackBytes);
  EXPECT_EQ(model_->packs().size(), 1u);
}

TEST_F(ModelPacks, ThatAreCompleteStayIfTheKernelFails) {
  script->errors = 1;
  const auto got = AtOnce({{kFirst, kOne}, {kFirst, kOne}});
  EXPECT_NE(got[0].message().find("scripted error"), std::string::npos) << got[0].ToString();
  EXPECT_TRUE(got[1].ok()) << got[1].ToString();
  EXPECT_EQ(script->call_count, 1);
  EXPECT_EQ(model_->packed_bytes(), kPackBytes);
}

TEST_F(ModelPacks, OfAKernelThatFailedAreNotCounted) {
  script->errors = 1;
  const auto got = AtOnce({{kFirst, kItself}, {kFirst, kItself}});
  EXPECT_FALSE(got[0].ok());
  EXPECT_TRUE(got[1].ok()) << got[1].ToString();
  EXPECT_EQ(script->call_count, 2);
  EXPECT_EQ(model_->packed_bytes(), kPackBytes);
}

TEST_F(ModelPacks, FailForEachRequestIfPackingAlwaysFails) {
  script->throws = 100;
  for (const Status& got : AtOnce({{kFirst, kOne}, {kFirst, kOne}, {kSame, kTwo}}))
    EXPECT_EQ(got.code(), Code::kResourceExhausted);
  EXPECT_EQ(script->call_count, 3);
  EXPECT_EQ(model_->packed_bytes(), 0u);
  EXPECT_TRUE(model_->packs().empty());
}

// The first session blocks while it packs weights. Expects that a clone that needs the same weights waits
// until its deadline, and that its error message then contains `waited`.
void ExpectWaitEndsAtDeadline(const std::string& text, const DatumList& inputs, const std::string& waited) {
  script = std::make_unique<Script>();
  const KernelTable table = PackingKernels();
  SessionOptions options;
  options.target = KeepTarget(table);
  auto first = SessionOf(ParseOrDie(text), options);
  auto second = first->Clone();
  script->HoldFirst();
  Status done;
  std::thread thread([&] { done = first->Run(inputs).status(); });
  script->AwaitHeld();
  // On a busy machine the deadline can pass before the run reaches the product, so the loop tries longer and
  // longer deadlines.
  Status got;
  for (int64_t ms = 1; ms < 20'000 && got.message().find(waited) == std::string::npos; ms *= 2) {
    Stop stop;
    stop.deadline = Clock::now() + milliseconds(ms);
    second->SetStop(stop);
    got = second->Run(inputs).status();
    EXPECT_EQ(got.code(), Code::kCancelled);
  }
  EXPECT_NE(got.message().find(waited), std::string::npos) << got.message();
  std::atomic<bool> cancel{false};
  Stop stop;
  stop.cancel = &cancel;
  second->SetStop(stop);
  std::thread other([&] { cancel = true; });
  EXPECT_EQ(second->Run(inputs).status().code(), Code::kCancelled);
  other.join();
  script->Open();
  thread.join();
  EXPECT_TRUE(done.ok()) << done.ToString();
  second->SetStop({});
  ExpectLikeReference(*second, inputs);
  EXPECT_EQ(script->call_count, 1);
  EXPECT_EQ(second->Memory().packed, kPackBytes);
}

// The number of rows depends on data, so the product's kernel is prepared during the run.
TEST(DynamicSteps, WaitForPackingUntilTheirDeadline) {
  ExpectWaitEndsAtDeadline(R"(graph @g(%x: f32[3,2], %c: bool[3]) -> (%y) {
    #w: f32[2,2] = (1, 2, 3, 4)
    %rows = Compress(%x, %c) {flatten=false}
    %y = MatMul(%rows, #w)
  })",
                           {Counting({3, 2}), Tensor::Of(DType::kBool, {3}, {1, 0, 1})}, kWaited);
}

// The plan of the branch is compiled during the run, once for all clones.
TEST(Branches, WaitForThePlanUntilTheirDeadline) {
  ExpectWaitEndsAtDeadline(R"(graph @g(%x: f32[3,2], %c: bool[]) -> (%y) {
    %y = If(%c) [then @t() -> (%a) {
      #w: f32[2,2] = (1, 2, 3, 4)
      %a = MatMul(%x, #w)
    } else @e() -> (%b) { %b = Relu(%x) }]
  })",
                           {Counting({3, 2}), Tensor::Scalar(DType::kBool, 1)},
                           ": it waited for another session that compiles the plan");
}

// Plans and dynamic steps of several clones pack the same weight at the same time. The weight is released
// while some clones still run.
TEST(ClonedSessions, PackConcurrentlyWithTheSameResult) {
  std::unique_ptr<Graph> graph =
      ParseOrDie(R"(graph @g(%x: f32[N,64], %c: bool[N], %w: f32[64,64]) -> (%y, %z) {
    %rows = Compress(%x, %c) {flatten=false}
    %y = MatMul(%rows, %w)
    %z = MatMul(Relu(%x), %w)
  })")
          ->Clone();
  graph->InputToConstant(graph->inputs()[2], Noise({64, 64}, 1));
  const auto inputs = [](int64_t n) {
    Tensor chosen(DType::kBool, {n});
    for (int64_t i = 0; i < n; i += 2) chosen.data<bool>()[i] = true;
    return DatumList{Noise({n, 64}, 2), chosen};
  };
  SessionOptions options;
  options.level = Level::kExtended;
  auto alone = SessionOf(std::shared_ptr<const Graph>(graph->Clone()), options);
  std::vector<DatumList> want;
  for (int64_t n = 1; n < 40; n += 6) {
    auto got = alone->Run(inputs(n));
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    want.push_back(std::move(*got));
  }
  auto session = SessionOf(std::shared_ptr<const Graph>(std::move(graph)), options);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, clone = std::shared_ptr<Session>(session->Clone())] {
      for (size_t i = 0; i < want.size(); ++i) {
        auto got = clone->Run(inputs(1 + 6 * static_cast<int64_t>(i)));
        ASSERT_TRUE(got.ok()) << got.status().ToString();
        for (size_t k = 0; k < 2; ++k) EXPECT_TRUE(SameTensor((*got)[k].tensor, want[i][k].tensor)) << i;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(session->Memory().packed, alone->Memory().packed);
  EXPECT_GT(session->Memory().packed, 0u);
}

class Negates : public KernelOf<Negates> {
 public:
  Status Run(RunContext& c) override {
    ++script->call_count;
    script->Pass();
    for (int64_t i = 0; i < c.Out(0).size(); ++i) c.Out<float>(0)[i] = -c.In<float>(0)[i];
    return {};
  }
};

// The kernel Negates runs once per model, because the creation of a model folds Neg(#m).
TEST(ModelVariants, AreMadeOnceAndDoNotBlockOthers) {
  script = std::make_unique<Script>();
  KernelTable table;
  table.Add<Negates>("Unary", "test.neg", [](const KernelQuery&) { return true; });
  SessionOptions options;
  options.target = KeepTarget(table);
  auto created = Model::Create(ParseOrDie(R"(graph @g(%x: f32[2]) -> (%y) {
    overridable #j: f32[2] = (10, 20)
    overridable #k: f32[2] = (30, 40)
    #m: f32[2] = (1, 2)
    %y = %x + #j + #k + Neg(#m)
  })"),
                               options, Workers(1));
  ASSERT_TRUE(created.ok()) << created.status().ToString();
  ASSERT_EQ(script->call_count, 1);
  Model& model = **created;
  std::shared_ptr<Model> got[2];
  const auto make = [&](int i) {
    auto variant = model.Variant({"k"}, Workers(1));
    ASSERT_TRUE(variant.ok()) << variant.status().ToString();
    got[i] = *variant;
  };
  script->HoldFirst();
  std::thread first(make, 0);
  script->AwaitHeld();
  std::thread second(make, 1);
  const Status late = model.Variant({"k"}, Workers(1), Passed()).status();
  EXPECT_EQ(late.code(), Code::kCancelled);
  EXPECT_EQ(late.message(),
            "the run did not end before its deadline: it waited for another session that creates the model "
            "for the same inputs");
  EXPECT_TRUE(model.Variant({"j"}, Workers(1), Passed()).ok());
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(model.Variant({"x"}, Workers(1), Passed()).status().code(), Code::kNotFound);
  EXPECT_EQ(model.packed_bytes(), 0u);
  script->Open();
  first.join();
  second.join();
  EXPECT_TRUE(got[0]);
  EXPECT_EQ(got[0], got[1]);
  EXPECT_EQ(script->call_count, 3) << "the model itself, and each variant";
}

}  // namespace
}  // namespace tern
