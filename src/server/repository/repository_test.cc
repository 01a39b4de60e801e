#include "server/repository/repository.h"

#include "server/core/eventually.h"
#include "server/repository/test_support.h"

namespace tern::server {
namespace {

TEST_F(RepositoryTest, LoadsAllModels) {
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("a/2/model.onnx", "ok");
  folder_.Write("b/config.pbtxt", "backend: 'b' version_policy { all {} }");
  folder_.Write("b/1/model.onnx", "ok");
  folder_.Write("b/3/model.onnx", "fail");
  folder_.Write("c/config.pbtxt", "max_batch_size: ");
  folder_.Write("d/config.pbtxt", "backend: 'missing' ");
  folder_.Write("d/1/model.onnx", "ok");
  folder_.Write("empty/labels.txt", "");
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Versions("a"), "2");
  EXPECT_EQ(Versions("b"), "1");
  const std::string index = Index();
  EXPECT_NE(index.find("a:2:READY\n"), std::string::npos) << index;
  EXPECT_NE(index.find("b:1:READY\n"), std::string::npos) << index;
  EXPECT_NE(index.find("b:3:UNAVAILABLE:cannot read 3/model.onnx\n"), std::string::npos)
      << "clients must not see folders of the server: " << index;
  EXPECT_NE(index.find("c::UNAVAILABLE:model configuration, line 1"), std::string::npos) << index;
  EXPECT_NE(index.find("d:1:UNAVAILABLE:there is no back end 'missing'"), std::string::npos) << index;
  EXPECT_NE(index.find("empty::UNAVAILABLE:the model has no version"), std::string::npos) << index;
  EXPECT_EQ(Index(true), "a:2:READY\nb:1:READY\n");
  EXPECT_EQ((*registry_.Find("a"))->config().inputs[0].name, "x") << "the back end completes it";
  EXPECT_NE((*registry_.Find("a"))->config().json.find(R"("name":"x")"), std::string::npos);
}

TEST_F(RepositoryTest, RefusesExplicitControlInOtherModes) {
  folder_.Write("a/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  for (const Status& status : {repository_->Load("a", {}), repository_->Unload("a", false)}) {
    EXPECT_EQ(status.code(), Code::kUnavailable);
    EXPECT_EQ(status.message(), "explicit model load / unload is not allowed if polling is enabled");
  }
  EXPECT_EQ(repository_->Load("../a", {}).message(), "model name must not contain path traversal characters");
}

TEST_F(RepositoryTest, LoadsAndUnloadsOnRequest) {
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("b/1/model.onnx", "ok");
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"b"};
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Index(), "a::UNKNOWN\nb:1:READY\n");
  EXPECT_TRUE(repository_->Load("a", {}).ok());
  EXPECT_EQ(Versions("a"), "1");
  EXPECT_TRUE(repository_->Unload("a", false).ok());
  EXPECT_EQ(Versions("a"), "");
  EXPECT_EQ(scheduler_.removed(), (std::vector<std::string>{"a:1"}));
  EXPECT_EQ(Index(), "a:1:UNAVAILABLE:unloaded\nb:1:READY\n");
  EXPECT_EQ(repository_->Load("none", {}).message(),
            "failed to load 'none', failed to poll from model repository");
  folder_.Write("a/1/model.onnx", "fail");
  EXPECT_EQ(repository_->Load("a", {}).message(),
            "failed to load 'a', version 1 is at UNAVAILABLE state: cannot read 1/model.onnx");
}

TEST_F(RepositoryTest, KeepsTheOldVersionsWhenAReloadFails) {
  folder_.Write("a/1/model.onnx", "ok");
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  ASSERT_TRUE(Start().ok());
  const auto before = *registry_.Find("a");
  folder_.Write("a/1/model.onnx", "fail");
  EXPECT_FALSE(repository_->Load("a", {}).ok());
  EXPECT_EQ(*registry_.Find("a"), before);
  EXPECT_TRUE(scheduler_.removed().empty());
  EXPECT_EQ(Index(true).substr(0, 9), "a:1:READY");
  folder_.Write("a/1/model.onnx", "new and ok");
  EXPECT_TRUE(repository_->Load("a", {}).ok());
  EXPECT_NE(*registry_.Find("a"), before);
  EXPECT_TRUE(Eventually([&] { return scheduler_.removed() == std::vector<std::string>{"a:1"}; }));
}

TEST_F(RepositoryTest, ChecksTheNamesThatTheModelAdds) {
  folder_.Write("a/1/model.onnx", "twice");
  ASSERT_TRUE(Start().ok());
  EXPECT_NE(Index().find("input 'x' is listed twice"), std::string::npos) << Index();
}

TEST_F(RepositoryTest, LeavesUnchangedVersionsAlone) {
  folder_.Write("a/config.pbtxt", "backend: 'b' version_policy { all {} }");
  folder_.Write("a/1/model.onnx", "ok");
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"*"};
  ASSERT_TRUE(Start().ok());
  const auto before = *registry_.Find("a", "1");
  folder_.Write("a/2/model.onnx", "ok");
  EXPECT_TRUE(repository_->Load("a", {}).ok());
  EXPECT_EQ(Versions("a"), "1 2");
  EXPECT_EQ(*registry_.Find("a", "1"), before);
  EXPECT_EQ(backend_->loads, 2);
}

TEST_F(RepositoryTest, TakesConfigurationAndFilesOfTheRequest) {
  folder_.Write("a/1/model.onnx", "ok");
  options_.control = ControlMode::kExplicit;
  ASSERT_TRUE(Start().ok());
  LoadOptions load;
  load.config = R"({"name":"a","backend":"onnxruntime","max_batch_size":7})";
  ASSERT_TRUE(repository_->Load("a", load).ok());
  EXPECT_EQ((*registry_.Find("a"))->config().max_batch_size, 7);
  load.files = {{"3/model.onnx", "ok"}};
  const Status status = repository_->Load("a", load);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Versions("a"), "3");
  ASSERT_TRUE(repository_->Load("only_here", {R"({"backend":"b"})", {{"1/model.onnx", "ok"}}}).ok());
  EXPECT_EQ(Versions("only_here"), "1");
  EXPECT_FALSE(repository_->Load("a", {"", {{"3/model.onnx", "ok"}}}).ok()) << "files need a configuration";
  EXPECT_FALSE(repository_->Load("a", {R"({"name":"other"})", {}}).ok());
  EXPECT_FALSE(repository_->Load("a", {"{", {}}).ok());
  EXPECT_FALSE(repository_->Load("a", {load.config, {{"../model.onnx", "ok"}}}).ok());
  EXPECT_EQ(Versions("a"), "3");
}

TEST_F(RepositoryTest, Polls) {
  folder_.Write("a/1/model.onnx", "ok");
  options_.control = ControlMode::kPoll;
  options_.poll_interval = seconds(0);
  ASSERT_TRUE(Start().ok());
  folder_.Write("b/1/model.onnx", "ok");
  EXPECT_TRUE(Eventually([&] { return Versions("b") == "1"; })) << "a new model";
  folder_.Write("a/2/model.onnx", "slow");
  EXPECT_TRUE(Eventually([&] {
    EXPECT_NE(Versions("a"), "") << "the old version serves until the new one is ready";
    return Versions("a") == "2";
  })) << "a new version";
  folder_.Write("a/2/model.onnx", "fail");
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(Versions("a"), "2") << "a failed reload keeps the old one";
  folder_.Remove("a");
  EXPECT_TRUE(Eventually([&] { return Versions("a").empty(); })) << "the model was removed";
  const int loads = backend_->loads;
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(backend_->loads, loads) << "nothing changed";
}

TEST_F(RepositoryTest, PollingKeepsModelsOfARepositoryThatDisappears) {
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("b/1/model.onnx", "ok");
  options_.control = ControlMode::kPoll;
  options_.poll_interval = seconds(0);
  ASSERT_TRUE(Start().ok());
  folder_.Remove("a/1");
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(Versions("a"), "1") << "the folder has no version, so nothing can replace the old one";
  std::filesystem::rename(folder_.path(), folder_.path() + ".gone");
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(Versions("a") + Versions("b"), "11") << "the repository is gone";
  std::filesystem::create_directory(folder_.path());
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(Versions("a") + Versions("b"), "11") << "the repository is empty";
  std::filesystem::remove_all(folder_.path());
  std::filesystem::rename(folder_.path() + ".gone", folder_.path());
  folder_.Write("b/2/model.onnx", "ok");
  EXPECT_TRUE(Eventually([&] { return Versions("b") == "2"; }));
}

TEST_F(RepositoryTest, PollingRetriesEnsembles) {
  folder_.Write("a/1/model.onnx", "fail");
  WriteEnsemble("e", "a");
  options_.control = ControlMode::kPoll;
  options_.poll_interval = seconds(0);
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Versions("e"), "");
  folder_.Write("a/1/model.onnx", "ok");
  EXPECT_TRUE(Eventually([&] { return Versions("e") == "1"; }));
}

TEST_F(RepositoryTest, LoadsTheStepsOfEnsemblesAtTheStart) {
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("b/1/model.onnx", "ok");
  WriteEnsemble("e", "a");
  options_.control = ControlMode::kExplicit;
  options_.load_at_start = {"e", "none"};
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Index(),
            "a:1:READY\nb::UNKNOWN\ne:1:READY\n"
            "none::UNAVAILABLE:failed to load 'none', failed to poll from model repository\n");
  ASSERT_TRUE(repository_->Unload("e", true).ok());
  EXPECT_EQ(Versions("a"), "");
  EXPECT_TRUE(repository_->Unload("unknown", false).ok());
  EXPECT_EQ(Index().find("unknown"), std::string::npos);
}

TEST_F(RepositoryTest, LoadsInParallel) {
  for (const char* name : {"a", "b", "c", "d"}) folder_.Write(StrCat(name, "/1/model.onnx"), "slow");
  options_.load_threads = 4;
  const auto begin = Clock::now();
  ASSERT_TRUE(Start().ok());
  EXPECT_LT(Clock::now() - begin, milliseconds(700)) << "each takes 200 ms";
  EXPECT_EQ(scheduler_.added, 4);
}

TEST_F(RepositoryTest, StrictStartFails) {
  folder_.Write("a/1/model.onnx", "fail");
  options_.must_load = MustLoad::kAll;
  ASSERT_TRUE(Start().ok());
  const Status status = repository_->StartError();
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message().find(folder_.path()), std::string::npos);
  options_.folders.push_back("/does/not/exist");
  EXPECT_FALSE(Start().ok());
}

TEST_F(RepositoryTest, FlatModelsMustBeLoaded) {
  TestFolder flat;
  folder_.Write("a/1/model.onnx", "fail");
  ASSERT_TRUE(Start().ok());
  EXPECT_TRUE(repository_->StartError().ok()) << "a model of a repository may fail";
  options_.models = {{"good", flat.Write("good.onnx", "ok")}, {"bad", flat.Write("bad.onnx", "fail")}};
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(repository_->StartError().message().find("model 'bad' cannot be loaded: cannot read"), 0u);
  options_.models.push_back({"worse", flat.Write("worse.onnx", "fail")});
  ASSERT_TRUE(Start().ok());
  const std::string both = repository_->StartError().message();
  EXPECT_EQ(both.find("model 'bad' cannot be loaded: cannot read"), 0u);
  EXPECT_NE(both.find("\nmodel 'worse' cannot be loaded: cannot read"), std::string::npos) << both;
  options_.must_load = MustLoad::kNone;
  ASSERT_TRUE(Start().ok());
  EXPECT_TRUE(repository_->StartError().ok());
}

TEST_F(RepositoryTest, RefusesANameInTwoRepositories) {
  TestFolder other;
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("b/1/model.onnx", "ok");
  other.Write("a/1/model.onnx", "ok");
  options_.folders.push_back(other.path());
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Index(), "a::UNAVAILABLE:model 'a' is in 2 repositories; a name must be unique\nb:1:READY\n");
}

TEST_F(RepositoryTest, LoadsEnsemblesAfterTheirSteps) {
  folder_.Write("z/1/model.onnx", "slow");
  WriteEnsemble("inner", "z");
  folder_.Write("bad/config.pbtxt", "");
  WriteEnsemble("broken", "bad");
  WriteEnsemble("loop1", "loop2");
  WriteEnsemble("loop2", "loop1");
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Versions("inner"), "1");
  const std::string index = Index();
  EXPECT_NE(index.find("broken:1:UNAVAILABLE:ensemble 'broken' depends on 'bad' which has no loaded version"),
            std::string::npos)
      << index;
  EXPECT_NE(index.find("loop1:1:UNAVAILABLE"), std::string::npos) << index;
}

TEST_F(RepositoryTest, LoadsAndUnloadsEnsemblesWithTheirSteps) {
  folder_.Write("a/1/model.onnx", "ok");
  WriteEnsemble("e", "a");
  options_.control = ControlMode::kExplicit;
  ASSERT_TRUE(Start().ok());
  ASSERT_TRUE(repository_->Load("e", {}).ok());
  EXPECT_EQ(Versions("a"), "1") << "its step is loaded too";
  ASSERT_TRUE(repository_->Unload("e", true).ok());
  EXPECT_EQ(Versions("a"), "") << "it was not loaded by name";
  ASSERT_TRUE(repository_->Load("a", {}).ok());
  ASSERT_TRUE(repository_->Load("e", {}).ok());
  ASSERT_TRUE(repository_->Unload("e", true).ok());
  EXPECT_EQ(Versions("a"), "1") << "it was loaded by name";
  ASSERT_TRUE(repository_->Load("e", {}).ok());
  ASSERT_TRUE(repository_->Unload("a", false).ok());
  EXPECT_EQ(Versions("e"), "") << "it cannot run without its step";
}

TEST_F(RepositoryTest, EnsemblesReturnWithTheirSteps) {
  folder_.Write("a/1/model.onnx", "ok");
  WriteEnsemble("inner", "a");
  folder_.Write("outer/config.pbtxt", R"(platform: "ensemble"
    input { name: "in" data_type: TYPE_FP32 dims: 4 } output { name: "out" data_type: TYPE_FP32 dims: 4 }
    ensemble_scheduling { step { model_name: "inner" model_version: -1
      input_map { key: "in" value: "in" } output_map { key: "out" value: "out" } } })");
  options_.control = ControlMode::kExplicit;
  ASSERT_TRUE(Start().ok());
  ASSERT_TRUE(repository_->Load("outer", {}).ok());
  ASSERT_TRUE(repository_->Unload("a", false).ok());
  EXPECT_EQ(Versions("inner") + Versions("outer"), "");
  ASSERT_TRUE(repository_->Load("a", {}).ok());
  EXPECT_EQ(Versions("inner"), "1");
  EXPECT_EQ(Versions("outer"), "1");
  ASSERT_TRUE(repository_->Unload("a", false).ok());
  ASSERT_TRUE(repository_->Unload("outer", false).ok());
  ASSERT_TRUE(repository_->Load("a", {}).ok());
  EXPECT_EQ(Versions("inner"), "1");
  EXPECT_EQ(Versions("outer"), "") << "it was unloaded by name meanwhile";
}

TEST_F(RepositoryTest, ChecksEnsemblesAgainstTheirSteps) {
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("e/config.pbtxt", R"(platform: "ensemble"
    input { name: "in" data_type: TYPE_INT32 dims: 4 } output { name: "out" data_type: TYPE_FP32 dims: 4 }
    ensemble_scheduling { step { model_name: "a" model_version: -1
      input_map { key: "x" value: "in" } output_map { key: "y" value: "out" } } })");
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Index().substr(10),
            "e:1:UNAVAILABLE:ensemble tensor 'in' has type INT32, but model 'a' has FP32\n");
}

TEST_F(RepositoryTest, ServesFlatModels) {
  TestFolder flat;
  options_.folders.clear();
  options_.models = {{"file", flat.Write("some.onnx", "ok")},
                     {"versions", flat.path() + "/versions"},
                     {"folder", flat.path() + "/folder"}};
  flat.Write("versions/1/model.onnx", "ok");
  flat.Write("versions/4/model.onnx", "ok");
  flat.Write("folder/net.onnx", "ok");
  flat.Write("folder/config.pbtxt", "name: 'other' max_batch_size: 3");
  options_.control = ControlMode::kExplicit;
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ(Index(true), "file:1:READY\nfolder:1:READY\nversions:4:READY\n");
  EXPECT_EQ((*registry_.Find("folder"))->config().max_batch_size, 3);
  EXPECT_EQ((*registry_.Find("folder"))->config().name, "folder");
}

TEST_F(RepositoryTest, WarmsUpBeforeItPublishes) {
  const std::string warm_up =
      R"(backend: "b" max_batch_size: 4 model_warmup { name: "w" batch_size: 2 count: 3
    inputs { key: "x" value { data_type: TYPE_FP32 dims: [ 5 ] zero_data: true } }
    inputs { key: "r" value { data_type: TYPE_STRING dims: [ 1 ] random_data: true } }
    inputs { key: "f" value { data_type: TYPE_INT8 dims: [ 4 ] input_data_file: "raw" } } })";
  folder_.Write("a/config.pbtxt", warm_up);
  folder_.Write("a/warmup/raw", "12345678");
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write("short/config.pbtxt", warm_up);
  folder_.Write("short/warmup/raw", "1");
  folder_.Write("short/1/model.onnx", "ok");
  folder_.Write("bad/config.pbtxt", R"(backend: "b" model_warmup { name: "w"
    inputs { key: "bad" value { data_type: TYPE_FP32 dims: [ 5 ] zero_data: true } } })");
  folder_.Write("bad/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  const auto* version = dynamic_cast<const FakeVersion*>(registry_.Find("a")->get());
  ASSERT_TRUE(version);
  EXPECT_EQ(version->submitted, 3);
  EXPECT_GE(version->bytes, 3 * (2 * 5 * 4 + 8 + 8u));
  const std::string index = Index();
  EXPECT_NE(index.find("bad:1:UNAVAILABLE:warm-up 'w': the input is bad"), std::string::npos) << index;
  EXPECT_NE(index.find("short:1:UNAVAILABLE:warm-up 'w': file 'raw' has 1 bytes, expected 8"),
            std::string::npos)
      << index;
}

TEST_F(RepositoryTest, ReadsLabels) {
  folder_.Write(
      "a/config.pbtxt",
      "backend: 'b' output { name: 'y' data_type: TYPE_FP32 dims: 2 label_filename: 'labels.txt' }");
  folder_.Write("a/labels.txt", "cat\r\ndog \n");
  folder_.Write("a/1/model.onnx", "ok");
  folder_.Write(
      "b/config.pbtxt",
      "backend: 'b' output { name: 'y' data_type: TYPE_FP32 dims: 2 label_filename: '../a/labels.txt' }");
  folder_.Write("b/1/model.onnx", "ok");
  ASSERT_TRUE(Start().ok());
  EXPECT_EQ((*registry_.Find("a"))->config().outputs[0].labels, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(Versions("b"), "");
}

TEST_F(RepositoryTest, SurvivesConcurrentControl) {
  for (const char* name : {"a", "b"}) folder_.Write(StrCat(name, "/1/model.onnx"), "ok");
  options_.control = ControlMode::kExplicit;
  ASSERT_TRUE(Start().ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 20; ++i) {
        const std::string name = (t + i) % 2 ? "a" : "b";
        (void)(i % 3 ? repository_->Load(name, {}) : repository_->Unload(name, false)).ok();
        (void)repository_->Index(false);
      }
    });
  for (std::thread& thread : threads) thread.join();
  repository_->Stop(seconds(1));
  EXPECT_EQ(Versions("a") + Versions("b"), "");
  EXPECT_EQ(repository_->Load("a", {}).message(), "Server exiting");
  EXPECT_EQ(static_cast<int>(scheduler_.removed().size()), scheduler_.added);
}

}  // namespace
}  // namespace tern::server
