// A model whose versions differ: the file behaviour.txt in the folder of a version says how it answers. Each
// line is a name and a number. The input INPUT0 and the output OUTPUT0 are FP32 of any size; the output is
// 2 x + 1.
//   delay_us       time of an execution (0)
//   wrong_rate     share of the executions whose outputs are 1 % too large (0)
//   fail_every     every n-th execution fails (0: none)
//   crash_every    every n-th execution ends the process with SIGSEGV (0: none)
//   hang_after     from this execution on, none returns before its request is cancelled (0: never)
//   scale          the output is scale x + 1 (2)
//   seed           of the generator that chooses the wrong executions (1)
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "plug_in.h"

namespace {

struct Model {
  double delay_us = 0, wrong_rate = 0, fail_every = 0, crash_every = 0, hang_after = 0, scale = 2, seed = 1;
  std::atomic<uint64_t> executions{0};
  std::mutex mutex;
  std::mt19937_64 random;

  bool IsWrong() {
    const std::lock_guard<std::mutex> lock(mutex);
    return std::uniform_real_distribution<>()(random) < wrong_rate;
  }
};

void* Load(void*, const TernModelInfo* info, TernError* error) {
  auto* model = new Model;
  std::ifstream file(std::string(info->folder) + "/behaviour.txt");
  std::string name;
  double value = 0;
  while (file >> name >> value) {
    double* field = name == "delay_us"      ? &model->delay_us
                    : name == "wrong_rate"  ? &model->wrong_rate
                    : name == "fail_every"  ? &model->fail_every
                    : name == "crash_every" ? &model->crash_every
                    : name == "hang_after"  ? &model->hang_after
                    : name == "scale"       ? &model->scale
                    : name == "seed"        ? &model->seed
                                            : nullptr;
    if (!field) {
      plug_in::Fail(error, TERN_INVALID_ARGUMENT, "behaviour.txt has an unknown name");
      delete model;
      return nullptr;
    }
    *field = value;
  }
  model->random.seed(static_cast<uint64_t>(model->seed));
  return model;
}

void Unload(void* model) { delete static_cast<Model*>(model); }

int32_t Describe(void*, const TernModelInfo* info, TernDescription* to, TernError*) {
  const int64_t dims[] = {-1};
  const TernTensorInfo input{"INPUT0", TERN_TYPE_FP32, 1, dims, 0},
      output{"OUTPUT0", TERN_TYPE_FP32, 1, dims, 0};
  plug_in::host->add_input(to, &input);
  plug_in::host->add_output(to, &output);
  plug_in::host->set_max_batch_size(to, info->max_batch_size, 0);
  return TERN_OK;
}

void* CreateInstance(void* model, TernError*) { return model; }
void DestroyInstance(void*) {}

// Waits for the delay without a sleep, whose end is imprecise.
void Work(double delay_us) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::micro>(delay_us);
  if (delay_us > 500) std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(delay_us - 300));
  while (std::chrono::steady_clock::now() < end) {
  }
}

bool Every(double n, double number) {
  return n > 0 && static_cast<uint64_t>(number) % static_cast<uint64_t>(n) == 0;
}

int32_t Run(void* instance, const TernBatch* batch, TernOutputs* outputs, TernError* error) {
  Model& model = *static_cast<Model*>(instance);
  const auto number = static_cast<double>(++model.executions);
  Work(model.delay_us);
  if (model.hang_after > 0 && number >= model.hang_after) {
    while (!plug_in::host->stopped(batch)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return plug_in::Fail(error, TERN_CANCELLED, "the request was cancelled");
  }
  if (Every(model.crash_every, number)) std::raise(SIGSEGV);
  if (Every(model.fail_every, number))
    return plug_in::Fail(error, TERN_INTERNAL, "the execution failed as behaviour.txt says");
  const TernTensor* input = plug_in::Input(*batch, "INPUT0");
  if (!input) return plug_in::Fail(error, TERN_INVALID_ARGUMENT, "INPUT0 is missing");
  const bool wrong = model.IsWrong();
  TernTensor output = *input;
  output.name = "OUTPUT0";
  auto* memory = static_cast<char*>(plug_in::host->allocate(outputs, &output));
  for (uint64_t i = 0; memory && i < input->bytes / sizeof(float); ++i) {
    const double y = model.scale * static_cast<double>(plug_in::At<float>(*input, i)) + 1;
    const float value = static_cast<float>(wrong ? y * 1.01 : y);
    std::memcpy(memory + i * sizeof value, &value, sizeof value);
  }
  return TERN_OK;
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "release",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .describe = Describe,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run = Run,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }
