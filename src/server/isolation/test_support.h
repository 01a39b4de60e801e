// Helpers for the tests of isolated models, which start the program `tern`.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>

#include "model_config.pb.h"
#include "server/backend/test_support.h"
#include "server/core/eventually.h"
#include "server/isolation/isolated_model.h"
#include "server/repository/config.h"

namespace tern::server {
namespace {  // other folders have helpers of the same names

// The actions of the plug-in `misbehave`.
enum Action : int32_t {
  kNothing,
  kSegfault,
  kAbort,
  kExit,
  kHang,
  kFail,
  kSleep,
  kSocket,
  kUnixSocket,
  kExec,
  kFork,
  kWrite,
  kAppend,
  kRemove,
  kRead,
  kKill,
  kPtrace,
  kThread,
  kMemory,
  kLog,
  kMakeFolder,
  kPrivileges,
  kSpin
};

inline ModelConfig ConfigOf(const std::string& text) {
  ConfigMessage message;
  Status status = ParseConfigText(text, message);
  if (status.ok()) {
    SetDefaults(message);
    auto config = ConvertConfig(message, "");
    if (config.ok()) return *config;
    status = config.TakeStatus();
  }
  ADD_FAILURE() << status.message();
  return {};
}

inline std::string ParameterText(const std::string& key, const std::string& value) {
  return StrCat("parameters { key: \"", key, "\" value { string_value: \"", value, "\" } }\n");
}

class IsolationTest : public testing::Test {
 protected:
  // Loads a model of a plug-in with the text of a configuration, in a process, and makes an instance.
  Status Load(const std::string& backend, const std::string& text = "", const ModelFiles& files = {"/", ""}) {
    config_ = ConfigOf(StrCat("name: \"m\" backend: \"", backend, "\"\n", text));
    if (change_) change_(config_);
    IsolationDefaults defaults;
    defaults.process = true;
    defaults.program = TERN_TEST_PROGRAM;
    TERN_ASSIGN(const std::shared_ptr<Backend> found,
                BackendOf(*backends_, TERN_TEST_BACKENDS, config_, defaults, version_));
    TERN_ASSIGN(model_, found->Load(files, config_));
    TERN_TRY(model_->Complete(config_));
    TERN_ASSIGN(instance_, model_->CreateInstance());
    return {};
  }

  Result<std::vector<WireTensor>> Run(std::vector<WireTensor> inputs) {
    batch_ = Batch();
    batch_.inputs = std::move(inputs);
    batch_.config = &config_;
    return instance_->Run(batch_);
  }

  // Runs an action of `misbehave`. Returns its result, or -1 if the execution failed.
  int Act(Action action, const std::string& text = "") {
    auto outputs = Run({Wire<int32_t>("ACTION", DType::kI32, {1}, {action}), Texts("TEXT", {1}, {text})});
    error_ = outputs.status();
    return outputs.ok() && outputs->size() == 1 ? ValuesOf<int32_t>((*outputs)[0])[0] : -1;
  }

  ModelProcess& process() { return *model_->process(); }
  bool AwaitUp(uint64_t epoch) {
    return Eventually(
        [&] { return process().epoch() >= epoch && process().state() == ModelProcess::State::kUp; });
  }

  ModelConfig config_;
  Batch batch_;
  Status error_;
  std::function<void(ModelConfig&)> change_;  // of the configuration that was read
  std::function<std::string(const ModelFiles&)> version_;
  std::unique_ptr<BackendSource> backends_ = FindBackends(TERN_TEST_BACKENDS);
  std::unique_ptr<BackendModel> model_;
  std::unique_ptr<BackendInstance> instance_;
};

}  // namespace
}  // namespace tern::server
