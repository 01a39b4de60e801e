// Fakes and folders for the tests of this folder.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/backend/backends.h"
#include "server/repository/repository.h"
#include "server/repository/repository_start.h"

namespace tern::server {
namespace {  // other folders have helpers of the same names

using std::chrono::milliseconds;
using std::chrono::seconds;

// A temporary folder. The destructor removes it.
class TestFolder {
 public:
  TestFolder() {
    std::string path = (std::filesystem::temp_directory_path() / "tern-test-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = std::filesystem::path(path_) / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return file.string();
  }
  void Remove(const std::string& name) const { std::filesystem::remove_all(path_ + "/" + name); }

 private:
  std::string path_;
};

// A model with input x and output y. Its file contains a text: "fail" fails to load, "slow" loads slowly,
// "twice" describes its input twice.
class FakeModel : public BackendModel {
 public:
  explicit FakeModel(bool twice) : twice_(twice) {}
  Status Complete(ModelConfig& config) override {
    if (twice_) config.inputs.push_back({"x", DType::kF32, {4}, {}, false, false, {}});
    if (config.inputs.empty() || twice_)
      config.inputs.push_back({"x", DType::kF32, {4}, {}, false, false, {}});
    if (config.outputs.empty()) config.outputs.push_back({"y", DType::kF32, {4}, {}, false, false, {}});
    return {};
  }
  Result<std::unique_ptr<BackendInstance>> CreateInstance() override { return Unsupported("it is a fake"); }
  size_t MemoryBytes() const override { return 1; }

 private:
  const bool twice_;
};

class FakeBackend : public Backend {
 public:
  Result<std::unique_ptr<BackendModel>> Load(const ModelFiles& files, const ModelConfig&) override {
    std::string text;
    std::getline(std::ifstream(files.file), text);
    ++loads;
    if (text == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (text == "fail") return InvalidModel("cannot read ", files.file);
    return std::unique_ptr<BackendModel>(new FakeModel(text == "twice"));
  }
  std::atomic<int> loads{0};
};

class FakeBackends : public BackendSource {
 public:
  explicit FakeBackends(std::shared_ptr<FakeBackend> backend) : backend_(std::move(backend)) {}
  Result<std::shared_ptr<Backend>> Find(const std::string& name) override {
    if (name == "missing") return NotFound("there is no back end 'missing'");
    return std::shared_ptr<Backend>(backend_);
  }

 private:
  std::shared_ptr<FakeBackend> backend_;
};

// Answers each request at once, with an error if an input is named "bad".
class FakeVersion : public ModelVersion {
 public:
  FakeVersion(ModelConfig config, std::string version)
      : ModelVersion(std::move(config), std::move(version)) {}
  void Submit(std::shared_ptr<Call> call) override {
    ++submitted;
    Response response;
    for (const WireTensor& input : call->request.inputs) {
      if (input.name == "bad") response.status = InvalidArgument("the input is bad");
      bytes += input.bytes.size();
    }
    call->Respond(std::move(response));
  }
  size_t MemoryBytes() const override { return 1; }
  size_t Pending() const override { return 0; }
  std::atomic<int> submitted{0};
  std::atomic<size_t> bytes{0};
};

class FakeScheduler : public Scheduler {
 public:
  Result<std::shared_ptr<ModelVersion>> Add(ModelConfig config, std::string version,
                                            std::unique_ptr<BackendModel>) override {
    ++added;
    return std::shared_ptr<ModelVersion>(new FakeVersion(std::move(config), std::move(version)));
  }
  Result<std::shared_ptr<ModelVersion>> AddEnsemble(ModelConfig config, std::string version,
                                                    const Registry&) override {
    ++added;
    return std::shared_ptr<ModelVersion>(new FakeVersion(std::move(config), std::move(version)));
  }
  void Remove(const std::shared_ptr<ModelVersion>& version, std::chrono::milliseconds) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    removed_.push_back(version->config().name + ":" + version->version());
  }
  void Retire(const std::shared_ptr<ModelVersion>& version, std::chrono::milliseconds limit) override {
    Remove(version, limit);
  }
  bool Retired(const std::shared_ptr<ModelVersion>& version) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (version->config().name == busy_) return false;
    }
    Remove(version, {});
    return true;
  }
  // The versions of this model that are replaced have requests. Empty: no model.
  void SetBusy(const std::string& model) {
    const std::lock_guard<std::mutex> lock(mutex_);
    busy_ = model;
  }
  std::vector<std::string> removed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return removed_;
  }
  std::atomic<int> added{0};

 private:
  std::mutex mutex_;
  std::vector<std::string> removed_;
  std::string busy_;
};

// A repository of fakes in a temporary folder.
class RepositoryTest : public testing::Test {
 protected:
  RepositoryTest() { options_.folders = {folder_.path()}; }

  Status Start() {
    auto started = StartRepository(options_, scheduler_, registry_, std::make_unique<FakeBackends>(backend_));
    TERN_TRY(started.status());
    repository_ = std::move(*started);
    for (int i = 0; i < 5000 && !repository_->AllReady(); ++i) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_TRUE(repository_->AllReady());
    return {};
  }

  // Returns "name:version:STATE[:reason]" for all entries.
  std::string Index(bool ready_only = false) {
    std::string out;
    for (const IndexEntry& entry : repository_->Index(ready_only)) {
      const char* states[] = {"UNKNOWN", "READY", "UNAVAILABLE", "LOADING", "UNLOADING"};
      out += StrCat(entry.name, ":", entry.version, ":", states[static_cast<int>(entry.state)],
                    entry.reason.empty() ? "" : ":", entry.reason, "\n");
    }
    return out;
  }

  std::string Versions(const std::string& model) {
    std::vector<std::string> out;
    for (const auto& version : registry_.Versions(model)) out.push_back(version->version());
    return Join(out, " ");
  }

  void WriteEnsemble(const std::string& name, const std::string& model) {
    folder_.Write(name + "/config.pbtxt", StrCat(R"(platform: "ensemble"
      input { name: "in" data_type: TYPE_FP32 dims: 4 } output { name: "out" data_type: TYPE_FP32 dims: 4 }
      ensemble_scheduling { step { model_name: ")",
                                                 model, R"(" model_version: -1
        input_map { key: "x" value: "in" } output_map { key: "y" value: "out" } } })"));
  }

  TestFolder folder_;
  RepositoryOptions options_;
  std::shared_ptr<FakeBackend> backend_ = std::make_shared<FakeBackend>();
  FakeScheduler scheduler_;
  Registry registry_;
  std::unique_ptr<Repository> repository_;
};

}  // namespace
}  // namespace tern::server
