// A decoupled model that sends one response for each element of IN, and then an empty final response.
//   inputs   IN     INT32 [n]
//            DELAY  UINT32 [n]  DELAY[i] is the time before response i, in ms
//            WAIT   UINT32 [1]  the time before run_request returns, in ms
//   outputs  OUT    INT32 [1]   the element of IN
//            IDX    UINT32 [1]  the index of the element
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "plug_in.h"

namespace {

using std::chrono::milliseconds;

struct Instance {
  std::mutex mutex;
  std::condition_variable changed;
  int active = 0;
};

void* Load(void*, const TernModelInfo*, TernError*) { return new int(0); }
void Unload(void* model) { delete static_cast<int*>(model); }

int32_t Describe(void*, const TernModelInfo*, TernDescription* to, TernError*) {
  const int64_t any[] = {-1}, one[] = {1};
  const TernTensorInfo inputs[] = {{"IN", TERN_TYPE_INT32, 1, any, 0},
                                   {"DELAY", TERN_TYPE_UINT32, 1, any, 0},
                                   {"WAIT", TERN_TYPE_UINT32, 1, one, 0}};
  const TernTensorInfo outputs[] = {{"OUT", TERN_TYPE_INT32, 1, one, 0},
                                    {"IDX", TERN_TYPE_UINT32, 1, one, 0}};
  for (const TernTensorInfo& input : inputs) plug_in::host->add_input(to, &input);
  for (const TernTensorInfo& output : outputs) plug_in::host->add_output(to, &output);
  plug_in::host->set_max_batch_size(to, 0, 0);
  plug_in::host->set_decoupled(to, 1);
  return TERN_OK;
}

void* CreateInstance(void*, TernError*) { return new Instance; }

void DestroyInstance(void* handle) {
  auto* instance = static_cast<Instance*>(handle);
  {
    std::unique_lock<std::mutex> lock(instance->mutex);
    instance->changed.wait(lock, [&] { return instance->active == 0; });
  }
  delete instance;
}

// Sleeps for `ms` milliseconds. Returns early if the request is cancelled.
void Sleep(TernRequest* request, uint32_t ms) {
  for (uint32_t i = 0; i < ms && !plug_in::host->cancelled(request); ++i)
    std::this_thread::sleep_for(milliseconds(1));
}

void Answer(TernRequest* request) {
  const TernHost& host = *plug_in::host;
  const TernTensor* in = host.input(request, "IN");
  const TernTensor* delay = host.input(request, "DELAY");
  TernError error{};
  if (!in || !delay || in->bytes != delay->bytes) {
    plug_in::Fail(&error, TERN_INVALID_ARGUMENT, "IN and DELAY must have the same size");
    return host.finish(request, &error);
  }
  const auto count = static_cast<uint32_t>(in->bytes / 4);
  for (uint32_t i = 0; i < count && !host.cancelled(request); ++i) {
    Sleep(request, plug_in::At<uint32_t>(*delay, i));
    TernOutputs* response = host.response(request);
    plug_in::AddOutput<int32_t>(response, "OUT", TERN_TYPE_INT32, {1}, {plug_in::At<int32_t>(*in, i)});
    plug_in::AddOutput<uint32_t>(response, "IDX", TERN_TYPE_UINT32, {1}, {i});
    host.send(response, 0);
  }
  host.finish(request, nullptr);
}

void RunRequest(void* handle, TernRequest* request) {
  auto* instance = static_cast<Instance*>(handle);
  const TernTensor* wait = plug_in::host->input(request, "WAIT");
  const uint32_t wait_ms = wait ? plug_in::At<uint32_t>(*wait, 0) : 0;
  {
    const std::lock_guard<std::mutex> lock(instance->mutex);
    ++instance->active;
  }
  std::thread([instance, request] {
    Answer(request);
    const std::lock_guard<std::mutex> lock(instance->mutex);
    --instance->active;
    instance->changed.notify_all();
  }).detach();
  std::this_thread::sleep_for(milliseconds(std::min<uint32_t>(wait_ms, 60'000)));
}

constexpr TernBackend kBackend{
    .version = TERN_BACKEND_VERSION,
    .size = sizeof(TernBackend),
    .name = "repeat",
    .initialise = plug_in::Initialise,
    .load = Load,
    .unload = Unload,
    .describe = Describe,
    .create_instance = CreateInstance,
    .destroy_instance = DestroyInstance,
    .run_request = RunRequest,
};

}  // namespace

extern "C" const TernBackend* tern_backend_1() { return &kBackend; }
