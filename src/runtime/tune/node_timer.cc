#include "runtime/tune/node_timer.h"

#include <algorithm>
#include <atomic>

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
constexpr size_t kLeastPassing = size_t{256} << 10, kMostPassing = size_t{32} << 20;  // what caches hold
constexpr int kLeastRuns = 3, kMostRuns = 15;
constexpr double kEnough = 5000;  // microseconds of runs

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

size_t BytesOf(const TensorInfo& t) { return BytesOf(t.dtype, static_cast<size_t>(CountOf(t.dims))); }

// Numbers in [-1, 1) for f32; zeros for other types, which as indices are always inside.
void MakeUp(Tensor& t) {
  if (t.dtype() != DType::kF32) return;
  uint32_t state = 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.data<float>()[i] = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
}

// Brings bytes near.
std::atomic<unsigned> sink;
void Read(const std::byte* data, size_t bytes) {
  unsigned sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum += static_cast<unsigned>(data[i]);
  sink.store(sum, std::memory_order_relaxed);
}

}  // namespace

NodeTimer::NodeTimer(const KernelQuery& query, const Workers& workers, const TimerLimits& limits)
    : query_(query), workers_(workers), limits_(limits) {
  for (int i = 0; i < query.InputCount(); ++i)
    if (query.Has(i) && !query.Known(i)) bytes_ += BytesOf(query.inputs[static_cast<size_t>(i)]);
  for (const TensorInfo& out : query.outputs) bytes_ += BytesOf(out);
}

bool NodeTimer::Allocate() {
  if (bytes_ > limits_.memory) return false;
  if (passing_.size() > 0) return true;
  inputs_.clear();  // memory may have run out half way
  outputs_.clear();
  made_.clear();
  for (int i = 0; i < query_.InputCount(); ++i) {
    const bool made = query_.Has(i) && !query_.Known(i);
    Tensor t;
    if (made) {
      if (OutOfTime()) return false;
      t = Tensor(query_.InType(i), query_.InDims(i));
      MakeUp(t);
    } else if (query_.Has(i)) {
      t = *query_.Known(i);
    }
    inputs_.emplace_back(t);
    made_.push_back(made);
  }
  for (const TensorInfo& out : query_.outputs) outputs_.emplace_back(Tensor(out.dtype, out.dims));
  passing_ = Buffer::Allocate(std::clamp(limits_.passing, kLeastPassing, kMostPassing));
  return true;
}

// As between two runs in a model: weights are as far away as what else the model reads makes them, while
// operands were just written.
void NodeTimer::PassOtherData() {
  // By all threads, which are awake then, as they are in a run.
  constexpr int64_t kPiece = 4096;
  const auto pieces = static_cast<int64_t>(passing_.size()) / kPiece;
  workers_.ParallelFor(pieces, 4, [&](int64_t begin, int64_t end) {
    Read(passing_.data() + begin * kPiece, static_cast<size_t>((end - begin) * kPiece));
  });
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (made_[i]) Read(static_cast<const std::byte*>(inputs_[i].tensor.raw()), inputs_[i].tensor.bytes());
}

// A run may have been disturbed: no kernel is judged by one or two.
std::optional<double> NodeTimer::Repeat(Kernel& kernel, RunContext& context, double hopeless) {
  if (OutOfTime() || !kernel.Run(context).ok()) return std::nullopt;
  double best = 0, sum = 0;
  for (int run = 0; run < kMostRuns; ++run) {
    if (run >= kLeastRuns && (OutOfTime() || sum > kEnough || best > hopeless)) break;
    if (OutOfTime()) return std::nullopt;
    PassOtherData();
    const Clock::time_point start = Clock::now();
    if (!kernel.Run(context).ok()) return std::nullopt;
    const double taken = std::max(Since(start), 1e-3);
    sum += taken;
    best = run == 0 ? taken : std::min(best, taken);
  }
  return best;
}

// Packing, operands and scratch memory may take more than there is, which is no reason to give up the run:
// the kernel that is chosen in its place has done without.
std::optional<double> NodeTimer::Measure(const KernelEntry& entry, double hopeless) {
  const Result<std::optional<double>> taken =
      Guard([&]() -> Result<std::optional<double>> { return MeasureOrThrow(entry, hopeless); });
  return taken.ok() ? *taken : std::nullopt;
}

std::optional<double> NodeTimer::MeasureOrThrow(const KernelEntry& entry, double hopeless) {
  if (OutOfTime() || !Allocate()) return std::nullopt;
  std::unique_ptr<Kernel> kernel = entry.make();
  size_t packed = 0;
  PrepareContext prepare(query_, workers_, packed);
  if (OutOfTime() || !kernel->Prepare(prepare).ok()) return std::nullopt;
  ResizeContext resize(query_, workers_.threads());
  if (!kernel->Resize(resize).ok() || bytes_ + resize.scratch() > limits_.memory) return std::nullopt;
  const Buffer scratch = Buffer::Allocate(resize.scratch());
  RunContext context;
  for (int i = 0; i < query_.InputCount(); ++i)
    context.inputs.push_back(query_.Has(i) ? &inputs_[static_cast<size_t>(i)] : nullptr);
  for (Datum& out : outputs_) context.outputs.push_back(&out);
  context.scratch_memory = scratch.data();
  context.pool = &workers_;
  return Repeat(*kernel, context, hopeless);
}

}  // namespace tern
