#include "server/generate/generator_model.h"

#include <algorithm>

#include "server/scheduler/execution.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;

TensorConfig TextTensor(const char* name) {
  TensorConfig tensor;
  tensor.name = name;
  tensor.dtype = DType::kString;
  tensor.dims = {1};
  return tensor;
}

}  // namespace

void DescribeGenerator(ModelConfig& config) {
  config.max_batch_size = 0;
  config.inputs = {TextTensor(kTextInput)};
  config.outputs = {TextTensor(kTextOutput)};
}

GeneratorModel::GeneratorModel(ModelConfig config, std::string version, Parts parts)
    : ModelVersion(std::move(config), std::move(version)),
      parts_(std::move(parts)),
      engine_(parts_.model, parts_.info.tokenizer, parts_.info.eos, parts_.limits, *this) {}

Status GeneratorModel::NotReady() const {
  return Unavailable("Request for unknown model: '", config().name, "' version ", version(),
                     " is not at ready state");
}

Status GeneratorModel::Generate(const Generations& generations) {
  if (parts_.deadline.count() > 0)
    for (const auto& g : generations)
      g->options.deadline = std::min(g->options.deadline, g->arrived + parts_.deadline);
  {
    const std::lock_guard lock(mutex_);
    if (draining_) return NotReady();
    TERN_TRY(engine_.Accept(generations));
  }
  parts_.executor->MakeReady(shared_from_this());
  return {};
}

void GeneratorModel::Work(int threads) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(working_, true)) return;  // the thread that works goes on
  }
  const Clock::time_point begin = Clock::now();
  engine_.Step(threads);
  Charge((Clock::now() - begin).count() * std::max(1, threads));
  bool more = false;
  {
    const std::lock_guard lock(mutex_);
    working_ = false;
    more = engine_.unfinished() > 0;
    if (!more) drained_.notify_all();
  }
  if (more) parts_.executor->MakeReady(shared_from_this());
}

size_t GeneratorModel::MemoryBytes() const {
  const MemoryReport memory = parts_.model->Memory();
  return memory.weights + memory.folded + memory.packed + engine_.MemoryBytes();
}

std::vector<std::pair<std::string, double>> GeneratorModel::Metrics() const {
  return {{"plans", parts_.model->plans()},
          {"packed_bytes", static_cast<double>(parts_.model->Memory().packed)},
          {"batches", parts_.model->batches() ? 1 : 0}};
}

void GeneratorModel::Drain(milliseconds limit, bool refuse) {
  const auto deadline = Clock::now() + std::clamp(limit, milliseconds(0), milliseconds(86'400'000));
  {
    std::unique_lock lock(mutex_);
    draining_ |= refuse;
    if (drained_.wait_until(lock, deadline, [this] { return engine_.unfinished() == 0; })) return;
    draining_ = true;
  }
  engine_.Fail(NotReady());
}

}  // namespace tern::server
