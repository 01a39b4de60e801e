#include "runtime/tune/node_timer.h"

#include <algorithm>
#include <atomic>

namespace tern {
namespace {

using Clock = std::chrono::steady_clock;
// Limits for the number of bytes that FlushCaches reads. They are typical cache sizes.
constexpr size_t kMinFlush = size_t{256} << 10, kMaxFlush = size_t{32} << 20;
constexpr int kMinRuns = 3, kMaxRuns = 15;
constexpr double kEnoughTime = 5000;  // total microseconds after which a kernel is not run again

double Since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

size_t BytesOf(const TensorInfo& t) { return BytesOf(t.dtype, static_cast<size_t>(CountOf(t.dims))); }

// Fills an f32 tensor with numbers in [-1, 1). Tensors of other types stay zero, which is a valid index.
void FillRandom(Tensor& t) {
  if (t.dtype() != DType::kF32) return;
  uint32_t state = 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    t.data<float>()[i] = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
  }
}

// Read stores its sum here, so that the compiler does not remove the loads.
std::atomic<unsigned> sink;

// Loads the bytes into the cache.
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
  if (flush_.size() > 0) return true;
  inputs_.clear();  // an earlier call may have filled some of these lists before it ran out of memory
  outputs_.clear();
  generated_.clear();
  for (int i = 0; i < query_.InputCount(); ++i) {
    const bool generated = query_.Has(i) && !query_.Known(i);
    Tensor t;
    if (generated) {
      if (OutOfTime()) return false;
      t = Tensor(query_.InType(i), query_.InDims(i));
      FillRandom(t);
    } else if (query_.Has(i)) {
      t = *query_.Known(i);
    }
    inputs_.emplace_back(t);
    generated_.push_back(generated);
  }
  for (const TensorInfo& out : query_.outputs) outputs_.emplace_back(Tensor(out.dtype, out.dims));
  flush_ = Buffer::Allocate(std::clamp(limits_.flush, kMinFlush, kMaxFlush));
  return true;
}

// Evicts the weights from the caches and loads the operands. A run of a model leaves the caches in this
// state, because other nodes evict the weights, and the previous nodes have just written the operands.
void NodeTimer::FlushCaches() {
  // Uses all threads, so that they are awake as in a run.
  constexpr int64_t kChunk = 4096;
  const auto chunks = static_cast<int64_t>(flush_.size()) / kChunk;
  workers_.ParallelFor(chunks, 4, [&](int64_t begin, int64_t end) {
    Read(flush_.data() + begin * kChunk, static_cast<size_t>((end - begin) * kChunk));
  });
  for (size_t i = 0; i < inputs_.size(); ++i)
    if (generated_[i])
      Read(static_cast<const std::byte*>(inputs_[i].tensor.raw()), inputs_[i].tensor.bytes());
}

// Returns the lowest time of several runs, because other processes may slow down a single run.
std::optional<double> NodeTimer::Repeat(Kernel& kernel, RunContext& context, double cutoff) {
  if (OutOfTime() || !kernel.Run(context).ok()) return std::nullopt;
  double best = 0, sum = 0;
  for (int run = 0; run < kMaxRuns; ++run) {
    if (run >= kMinRuns && (OutOfTime() || sum > kEnoughTime || best > cutoff)) break;
    if (OutOfTime()) return std::nullopt;
    FlushCaches();
    const Clock::time_point start = Clock::now();
    if (!kernel.Run(context).ok()) return std::nullopt;
    const double taken = std::max(Since(start), 1e-3);
    sum += taken;
    best = run == 0 ? taken : std::min(best, taken);
  }
  return best;
}

// Packed weights, operands and scratch memory may exceed the available memory. Then Measure returns nullopt,
// so the run that tunes does not fail.
std::optional<double> NodeTimer::Measure(const KernelEntry& entry, double cutoff) {
  const Result<std::optional<double>> taken =
      Guard([&]() -> Result<std::optional<double>> { return MeasureOrThrow(entry, cutoff); });
  return taken.ok() ? *taken : std::nullopt;
}

std::optional<double> NodeTimer::MeasureOrThrow(const KernelEntry& entry, double cutoff) {
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
  return Repeat(*kernel, context, cutoff);
}

}  // namespace tern
