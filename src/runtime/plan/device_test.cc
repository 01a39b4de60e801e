// Tests a network on two devices. The second device is simulated on the host. Only the kernels of the second
// device may access its memory.
#include <sys/mman.h>

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "runtime/bind/cpu_kernels.h"
#include "runtime/cost/cost_model.h"
#include "runtime/exec/state_test_support.h"
#include "runtime/plan/plan_store.h"

namespace tern {
namespace {

// Memory pages that can be accessed only between Open and Close. Any other access ends the process.
class GuardedMemory : public MemorySpace {
 public:
  const char* name() const override { return "guarded"; }
  Result<Buffer> Allocate(size_t bytes) override {
    const size_t size = (bytes + kPage - 1) / kPage * kPage + kPage;
    void* data = mmap(nullptr, size, Protection(), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return ResourceExhausted("no memory for ", bytes, " bytes");
    std::lock_guard<std::mutex> lock(mutex_);
    blocks_[data] = size;
    return Buffer::Borrow(data, bytes, std::shared_ptr<void>(data, [this](void* p) { Free(p); }), this);
  }
  Status CopyIn(void* to, const void* from_host, size_t bytes) override {
    ++copies_in;
    return Copy(to, from_host, bytes);
  }
  Status CopyOut(void* to_host, const void* from, size_t bytes) override {
    ++copies_out;
    return Copy(to_host, from, bytes);
  }
  void Open() { SetOpen(1); }
  void Close() { SetOpen(-1); }

  int copies_in = 0, copies_out = 0;

 private:
  static constexpr size_t kPage = 4096;
  int Protection() const { return open_ ? PROT_READ | PROT_WRITE : PROT_NONE; }
  Status Copy(void* to, const void* from, size_t bytes) {
    Open();
    std::memcpy(to, from, bytes);
    Close();
    return {};
  }
  void SetOpen(int change) {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ += change;
    for (const auto& [data, size] : blocks_) mprotect(data, size, Protection());
  }
  void Free(void* data) {
    std::lock_guard<std::mutex> lock(mutex_);
    munmap(data, blocks_[data]);
    blocks_.erase(data);
  }
  std::mutex mutex_;
  std::map<void*, size_t> blocks_;
  int open_ = 0;
};

// A CPU kernel that runs on the second device.
class Guarded : public Kernel {
 public:
  Guarded(std::unique_ptr<Kernel> inner, GuardedMemory& memory) : inner_(std::move(inner)), memory_(memory) {}
  Status Prepare(PrepareContext& c) override { return inner_->Prepare(c); }
  Status Resize(ResizeContext& c) override { return inner_->Resize(c); }
  Status Run(RunContext& c) override {
    memory_.Open();
    const Status status = inner_->Run(c);
    memory_.Close();
    return status;
  }
  std::unique_ptr<Kernel> Clone() const override {
    return std::make_unique<Guarded>(inner_->Clone(), memory_);
  }

 private:
  std::unique_ptr<Kernel> inner_;
  GuardedMemory& memory_;
};

// The second device has the CPU kernels of the given ops.
class TwoDevices : public testing::Test {
 protected:
  const Target* TargetWith(const std::vector<std::string>& ops) {
    memory_ = std::make_unique<GuardedMemory>();
    table_ = std::make_unique<KernelTable>(CpuRates());
    for (const std::string& op : ops)
      for (const KernelEntry* entry : CpuKernels().Of(op)) {
        KernelEntry own = *entry;
        own.name = "guarded." + entry->name;
        own.make = [make = entry->make, memory = memory_.get()] {
          return std::make_unique<Guarded>(make(), *memory);
        };
        table_->Add(std::move(own));
      }
    target_.reset(new CpuTarget({{"guarded", memory_.get(), {table_.get()}}}, {&CpuKernels()}));
    return target_.get();
  }

  // Compares the outputs with the reference. `in` and `out` are the expected numbers of copies to and from
  // the second device in each run after the first. Copies of constants do not count, because they are made
  // when the plan is compiled.
  void Expect(const std::string& text, const std::vector<std::string>& ops, const DatumList& inputs, int in,
              int out) {
    const std::shared_ptr<const Graph> graph = ParseOrDie(text);
    SessionOptions options;
    options.target = TargetWith(ops);
    auto session = SessionOf(graph, options);
    ASSERT_TRUE(session->Run(inputs).ok());
    memory_->copies_in = memory_->copies_out = 0;
    const auto got = session->Run(inputs);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ(memory_->copies_in, in);
    EXPECT_EQ(memory_->copies_out, out);
    const auto want = EvaluateGraph(*graph, inputs);
    ASSERT_TRUE(want.ok()) << want.status().ToString();
    for (size_t i = 0; i < want->size(); ++i) {
      const auto a = ToDoubles((*got)[i].tensor), b = ToDoubles((*want)[i].tensor);
      ASSERT_EQ(a.size(), b.size());
      for (size_t k = 0; k < a.size(); ++k)
        EXPECT_NEAR(a[k], b[k], 1e-4 * (1 + std::abs(b[k]))) << i << " " << k;
    }
    bool guarded = false, host = false;
    for (const StepInfo& step : session->Steps()) {
      guarded |= step.kernel.starts_with("guarded.");
      host |= !step.kernel.starts_with("guarded.") && step.kernel != "transfer";
    }
    EXPECT_TRUE(guarded);
    EXPECT_TRUE(host);
  }

  // These three must outlive the sessions.
  std::unique_ptr<GuardedMemory> memory_;
  std::unique_ptr<KernelTable> table_;
  std::unique_ptr<CpuTarget> target_;
};

// Two products run on the device, and the activation between them runs on the CPU. x and the activation's
// result are copied to the device. The activation's input and y are copied to the host.
TEST_F(TwoDevices, RunHalfOfANetworkEach) {
  Expect(R"(graph @g(%x: f32[3,4]) -> (%y) {
    #a: f32[4,4] = (1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7)
    #b: f32[4,2] = (1, 2, 3, 4, 5, 6, 7, 8)
    %h = MatMul(%x, #a)
    %t = Tanh(%h)
    %y = MatMul(%t, #b)
  })",
         {"MatMul"}, {Counting({3, 4})}, 2, 2);
}

TEST_F(TwoDevices, CopyAValueOnceForAllItsReaders) {
  Expect(R"(graph @g(%x: f32[8]) -> (%y) {
    %a = Relu(%x)
    %b = %a + %a
    %c = %a * %b
    %d = %c - %a
    %y = Softmax(%d) {axis=0}
  })",
         {"Binary"}, {Counting({8})}, 1, 1);
}

// Views need neither a step nor a copy on either device.
TEST_F(TwoDevices, KeepViewsWhereTheirInputIs) {
  Expect(R"(graph @g(%x: f32[2,6]) -> (%y) {
    #s: i64[2] = (3, 4)
    %a = %x + %x
    %b = Reshape(%a, #s)
    %c = %b * %b
    %y = Softmax(%c) {axis=1}
  })",
         {"Binary"}, {Counting({2, 6})}, 1, 1);
}

TEST_F(TwoDevices, CopyCapturesToTheHost) {
  Expect(R"(graph @g(%x: f32[4], %c: bool[]) -> (%y) {
    %a = %x + %x
    %y = If(%c) [then @t() -> (%r) { %r = Relu(%a) } else @e() -> (%n) { %n = Neg(%a) }]
  })",
         {"Binary"}, {Counting({4}), Tensor::Scalar(DType::kBool, 1)}, 1, 1);
}

// A constant that a kernel reads unpacked is copied to the device when the plan is compiled.
TEST_F(TwoDevices, CopyConstantsWithThePlan) {
  Expect(R"(graph @g(%x: f32[4]) -> (%y) {
    #k: f32[4] = (1, 2, 3, 4)
    %a = %x * #k
    %y = Softmax(%a) {axis=0}
  })",
         {"Binary"}, {Counting({4})}, 1, 1);
}

// The transfers of the state and of its shape copy more bytes as the state grows.
TEST_F(TwoDevices, ServeAllLengthsOfAState) {
  SessionOptions options;
  options.target = TargetWith({"Reduce", "Cast"});
  SessionAndReference both(R"(graph @g(%x: f32[N,3], %past: f32[P,3]) -> (%mean, %count, %present) {
    state %past -> %present {axis=0}
    #axes: i64[1] = (0)
    %present = Concat(%past, %x) {axis=0}
    %mean = ReduceMean(%present, #axes)
    %count = Cast(Shape(%present)) {to="f32"}
  })",
                           {Tensor(DType::kF32, {0, 3})}, options);
  for (int run = 0; run < 12; ++run) {
    both.Run({Noise({run == 0 ? 4 : 1, 3}, static_cast<uint32_t>(run))});
    ASSERT_FALSE(HasFailure()) << run;
  }
  EXPECT_LE(both.session().PlansMade(), 3);
  int guarded = 0;
  for (const StepInfo& step : both.session().Steps()) guarded += step.kernel.starts_with("guarded.");
  EXPECT_EQ(guarded, 2);
}

}  // namespace
}  // namespace tern
