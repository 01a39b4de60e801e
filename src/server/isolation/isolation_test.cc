// Isolated models give the results of models in the server, and survive what their process does.
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <thread>

#include "server/core/start_pool.h"
#include "server/isolation/test_support.h"

namespace tern::server {
namespace {

using std::chrono::milliseconds;
using State = ModelProcess::State;

const std::string kIdentity = R"(
input [ { name: "I" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "T" data_type: TYPE_STRING dims: [ -1 ] optional: true } ]
output [ { name: "O" data_type: TYPE_FP32 dims: [ -1 ] }, { name: "U" data_type: TYPE_STRING dims: [ -1 ] } ]
)";

uint64_t EndsBy(const ModelProcess& process, const std::string& reason) {
  for (const auto& [name, count] : process.Ends())
    if (name == reason) return count;
  return 0;
}

TEST_F(IsolationTest, TensorsOfAnySizeComeBack) {
  const Status status = Load("identity", kIdentity);
  ASSERT_TRUE(status.ok()) << status.message();
  for (const size_t count : {0, 1, 3, 1000, 5'000'000, 17, 20'000'000, 0}) {
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 977);
    auto outputs =
        Run({Wire<float>("I", DType::kF32, {int64_t(count)}, values), Texts("T", {2}, {"", "ab"})});
    ASSERT_TRUE(outputs.ok()) << count << ": " << outputs.status().message();
    ASSERT_EQ(outputs->size(), 2u);
    EXPECT_EQ(ValuesOf<float>((*outputs)[0]), values);
    EXPECT_EQ((*outputs)[0].dims, (Dims{int64_t(count)}));
    EXPECT_EQ((*outputs)[1].bytes.size(), 10u);
    EXPECT_GT(batch_.cpu_elsewhere.count(), 0);
  }
  auto one = Run({Wire<float>("I", DType::kF32, {1}, {5})});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->size(), 1u) << "the optional input is missing";
}

// Threads that load models have a low priority, which their threads and processes would inherit.
TEST_F(IsolationTest, TheProcessHasThePriorityOfTheServer) {
  StartPool();
  std::thread loads([&] {
    setpriority(PRIO_PROCESS, 0, 19);
    EXPECT_TRUE(Load("identity", kIdentity).ok());
  });
  loads.join();
  const auto nice = [&] { return getpriority(PRIO_PROCESS, static_cast<id_t>(process().pid())); };
  EXPECT_EQ(nice(), getpriority(PRIO_PROCESS, 0));
  kill(static_cast<pid_t>(process().pid()), SIGKILL);
  EXPECT_TRUE(AwaitUp(2));
  EXPECT_EQ(nice(), getpriority(PRIO_PROCESS, 0));
}

TEST_F(IsolationTest, RowsHaveTheirParameters) {
  ASSERT_TRUE(Load("parameters", R"(input [ { name: "EXPECTED" data_type: TYPE_STRING dims: [ 1 ] } ]
                                    output [ { name: "SAME" data_type: TYPE_BOOL dims: [ 1 ] } ])")
                  .ok());
  Request request;
  request.parameters = {{"text", std::string("x")}, {"flag", true}, {"number", int64_t{7}}};
  const std::vector<const Request*> requests = {&request};
  const std::vector<int64_t> items = {1};
  Batch batch;
  batch.inputs = {Texts("EXPECTED", {1}, {R"({"text": "x", "flag": "true", "number": "7"})"})};
  batch.requests = &requests;
  batch.items = &items;
  const auto outputs = instance_->Run(batch);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(ValuesOf<uint8_t>(outputs->at(0)).at(0), 1);
}

TEST_F(IsolationTest, RowsAskForAnotherIteration) {
  ASSERT_TRUE(Load("iterative_sequence", StrCat("max_batch_size: 4\n", ParameterText("delay_ms", "0"))).ok());
  EXPECT_FALSE(model_->RunsCalls());
  Request first, second;
  first.sequence.id = "a";
  second.sequence.id = "b";
  const std::vector<const Request*> requests = {&first, nullptr, &second};
  const std::vector<int64_t> items = {1, 1, 1};
  Batch batch;
  batch.inputs = {Wire<int32_t>("INPUT", DType::kI32, {3, 1}, {3, 1, 2})};
  batch.requests = &requests;
  batch.items = &items;
  const auto outputs = instance_->Run(batch);
  ASSERT_TRUE(outputs.ok()) << outputs.status().message();
  EXPECT_EQ(ValuesOf<int32_t>(outputs->at(0)), (std::vector<int32_t>{2, 0, 1}));
  ASSERT_EQ(batch.again.size(), 2u);
  EXPECT_EQ(batch.again[1].row, 2u);
}

TEST_F(IsolationTest, DecoupledModelsSendManyResponses) {
  ASSERT_TRUE(Load("repeat").ok());
  EXPECT_TRUE(config_.decoupled);
  EXPECT_TRUE(model_->RunsCalls());
  const auto call = std::make_shared<TestCall>();
  call->request.inputs = {Wire<int32_t>("IN", DType::kI32, {3}, {4, 5, 6}),
                          Wire<uint32_t>("DELAY", DType::kU32, {3}, {0, 1, 2}),
                          Wire<uint32_t>("WAIT", DType::kU32, {1}, {0})};
  instance_->RunCall(call);
  const auto responses = call->Wait();
  ASSERT_EQ(responses.size(), 4u);
  EXPECT_EQ(ValuesOf<int32_t>(responses[2].outputs[0]), std::vector<int32_t>{6});
  EXPECT_TRUE(responses[3].final && responses[3].outputs.empty());
}

TEST_F(IsolationTest, CancellationReachesTheProcess) {
  ASSERT_TRUE(Load("delay", ParameterText("delay_ms", "60000")).ok());
  std::atomic<bool> cancel{false};
  Batch batch;
  batch.inputs = {Wire<float>("INPUT0", DType::kF32, {1}, {1})};
  batch.stop.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(milliseconds(20));
    cancel = true;
  });
  EXPECT_EQ(instance_->Run(batch).status().message(), "the delay was cancelled");
  canceller.join();
  EXPECT_FALSE(batch.lost);
}

TEST_F(IsolationTest, ErrorsOfLoadingReachTheCaller) {
  for (const char* where : {"load", "describe", "instance"})
    EXPECT_EQ(Load("fail", ParameterText("fail", where)).message(),
              StrCat(where, " fails as the configuration says"));
  EXPECT_EQ(Load("none").code(), Code::kNotFound);
  EXPECT_EQ(Load("misbehave", ParameterText("at_load", StrCat(int{kSegfault}))).message(),
            "its process ended while it loaded the model: signal 11 (SIGSEGV)");
  ASSERT_TRUE(Load("fail", ParameterText("fail", "run")).ok());
  EXPECT_EQ(Run({Wire<float>("X", DType::kF32, {1}, {1})}).status().message(),
            "run fails as the configuration says");
  EXPECT_EQ(process().epoch(), 1u) << "an error does not end the process";
}

// A signature of a SavedModel changes the parameters of the configuration.
TEST_F(IsolationTest, ParametersAreThoseOfTheModel) {
  change_ = [](ModelConfig& config) { config.parameters["fail"] = "none"; };
  ASSERT_TRUE(Load("fail", ParameterText("fail", "run")).ok());
  EXPECT_TRUE(Run({Wire<float>("X", DType::kF32, {1}, {1})}).ok());
}

TEST_F(IsolationTest, APlainErrorIsForItsRequestOnly) {
  ASSERT_TRUE(Load("misbehave").ok());
  EXPECT_EQ(Act(kFail), -1);
  EXPECT_EQ(error_.code(), Code::kInternal);
  EXPECT_FALSE(batch_.lost);
  EXPECT_EQ(Act(kNothing), 0);
}

TEST_F(IsolationTest, ACrashFailsItsRequestAndTheProcessRunsAgain) {
  ASSERT_TRUE(Load("misbehave").ok());
  uint64_t epoch = 1;
  for (const auto& [action, reason] : {std::pair(kSegfault, "signal"), {kAbort, "signal"}, {kExit, "exit"}}) {
    const uint64_t before = EndsBy(process(), reason);
    EXPECT_EQ(Act(action, "3"), -1);
    EXPECT_EQ(error_.code(), Code::kUnavailable) << error_.message();
    EXPECT_TRUE(batch_.lost);
    ASSERT_TRUE(AwaitUp(++epoch));
    EXPECT_EQ(EndsBy(process(), reason), before + 1);
    EXPECT_EQ(Act(kNothing), 0);
  }
}

TEST_F(IsolationTest, AKilledProcessRunsAgain) {
  ASSERT_TRUE(Load("misbehave").ok());
  std::vector<State> seen;
  std::mutex mutex;
  process().OnChange([&] {
    const std::lock_guard lock(mutex);
    seen.push_back(process().state());
  });
  const auto child = [] {
    siginfo_t info{};
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
  };
  EXPECT_TRUE(child()) << "there is a process";
  std::ifstream children(StrCat("/proc/self/task/", getpid(), "/children"));
  // The process is a child of the keeper's thread.
  pid_t pid = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (pid_t found = 0; std::ifstream(task.path() / "children") >> found) pid = found;
  ASSERT_GT(pid, 0);
  kill(pid, SIGKILL);
  ASSERT_TRUE(AwaitUp(2));
  EXPECT_EQ(EndsBy(process(), "signal"), 1u);
  EXPECT_EQ(Act(kNothing), 0);
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(seen, (std::vector<State>{State::kRestarting, State::kUp}));
  }
  instance_.reset();
  model_.reset();
  EXPECT_FALSE(child()) << "no process is left, and no zombie";
}

TEST_F(IsolationTest, AHangingExecutionEndsAtItsLimit) {
  ASSERT_TRUE(Load("misbehave", ParameterText("execution_timeout_ms", "400")).ok());
  for (const Action action : {kHang, kSpin}) {
    const uint64_t epoch = process().epoch();
    const auto begin = Clock::now();
    EXPECT_EQ(Act(action), -1);
    EXPECT_GE(Clock::now() - begin, milliseconds(400));
    EXPECT_LT(Clock::now() - begin, milliseconds(10'000));
    EXPECT_TRUE(batch_.lost && batch_.timed_out);
    EXPECT_EQ(error_.message(), "an execution of model 'm' took longer than execution_timeout_ms, 400");
    ASSERT_TRUE(AwaitUp(epoch + 1));
  }
  EXPECT_EQ(EndsBy(process(), "timeout"), 2u);
  EXPECT_EQ(Act(kSleep, "50"), 0) << "within the limit";
}

TEST_F(IsolationTest, AHangingStreamEndsAtItsLimit) {
  ASSERT_TRUE(Load("repeat", ParameterText("execution_timeout_ms", "800")).ok());
  const auto run = [&](const std::vector<uint32_t>& delays) {
    const auto call = std::make_shared<TestCall>();
    const auto count = static_cast<int64_t>(delays.size());
    call->request.inputs = {Wire<int32_t>("IN", DType::kI32, {count}, std::vector<int32_t>(delays.size())),
                            Wire<uint32_t>("DELAY", DType::kU32, {count}, delays)};
    instance_->RunCall(call);
    return call->Wait();
  };
  const auto slow = run({300, 300, 300});
  EXPECT_TRUE(slow.back().status.ok()) << "no response takes longer than the limit";
  const auto hung = run({0, 60'000});
  ASSERT_FALSE(hung.empty());
  EXPECT_EQ(hung.back().status.code(), Code::kUnavailable);
  EXPECT_TRUE(hung.back().timed_out);
  ASSERT_TRUE(AwaitUp(2));
  EXPECT_EQ(run({0}).size(), 2u);
}

TEST_F(IsolationTest, AStreamEndsWithItsProcess) {
  ASSERT_TRUE(Load("repeat").ok());
  const auto call = std::make_shared<TestCall>();
  call->request.inputs = {Wire<int32_t>("IN", DType::kI32, {2}, {1, 2}),
                          Wire<uint32_t>("DELAY", DType::kU32, {2}, {0, 60'000})};
  instance_->RunCall(call);
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (pid_t found = 0; std::ifstream(task.path() / "children") >> found) kill(found, SIGKILL);
  EXPECT_EQ(call->Wait().back().status.code(), Code::kUnavailable);
  const auto cancelled = std::make_shared<TestCall>();
  ASSERT_TRUE(AwaitUp(2));
  cancelled->request = call->request;
  instance_->RunCall(cancelled);
  cancelled->Cancel();
  EXPECT_TRUE(cancelled->Wait().back().final);
}

TEST_F(IsolationTest, SeveralInstancesShareTheProcessAndItsEnd) {
  ASSERT_TRUE(Load("misbehave").ok());
  auto second = model_->CreateInstance();
  ASSERT_TRUE(second.ok());
  Status other;
  std::thread runner([&] {
    Batch batch;
    batch.inputs = {Wire<int32_t>("ACTION", DType::kI32, {1}, {kSleep}), Texts("TEXT", {1}, {"60000"})};
    other = (*second)->Run(batch).status();
  });
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_EQ(Act(kSegfault), -1);
  runner.join();
  EXPECT_EQ(other.code(), Code::kUnavailable);
  ASSERT_TRUE(AwaitUp(2));
  Batch batch;
  batch.inputs = {Wire<int32_t>("ACTION", DType::kI32, {1}, {kNothing})};
  EXPECT_TRUE((*second)->Run(batch).ok()) << "it is made again, too";
}

TEST_F(IsolationTest, OtherFilesAreNotLoaded) {
  std::atomic<int> files{1};
  version_ = [&](const ModelFiles&) { return StrCat(files.load()); };
  ASSERT_TRUE(Load("misbehave").ok());
  files = 2;
  EXPECT_EQ(Act(kSegfault), -1);
  ASSERT_TRUE(Eventually([&] { return process().state() == State::kDown; }));
  EXPECT_EQ(Act(kNothing), -1);
  EXPECT_EQ(error_.code(), Code::kUnavailable);
  files = 1;
  EXPECT_TRUE(AwaitUp(2));
  EXPECT_EQ(Act(kNothing), 0);
}

TEST_F(IsolationTest, OutputOfTheProcessIsLogged) {
  ASSERT_TRUE(Load("misbehave").ok());
  testing::internal::CaptureStderr();
  EXPECT_EQ(Act(kLog, "2"), 0);
  std::string log;
  std::this_thread::sleep_for(milliseconds(200));
  log = testing::internal::GetCapturedStderr();
  EXPECT_NE(log.find("info: model 'm', process "), std::string::npos) << log;
  EXPECT_NE(log.find(": line 1\n"), std::string::npos) << log;
}

TEST_F(IsolationTest, AModelThatDiesAtOnceAndAgainIsRestartedLater) {
  ASSERT_TRUE(Load("misbehave").ok());
  uint64_t epoch = 1;
  auto begin = Clock::now();
  for (int i = 0; i < 3; ++i) {
    begin = Clock::now();
    EXPECT_EQ(Act(kSegfault), -1);
    ASSERT_TRUE(AwaitUp(++epoch));
  }
  EXPECT_GE(Clock::now() - begin, milliseconds(400)) << "100, 200, 400 ms";
}

TEST_F(IsolationTest, AProgramThatIsNoServerIsRefused) {
  const std::string script = testing::TempDir() + "tern_program";
  for (const auto& [text, error] : {std::pair("exit 4", "ended while it loaded the model: exit code 4"),
                                    {"printf garbage >&3; sleep 5", "a message has a wrong size"},
                                    {"head -c 32 /dev/zero >&3; sleep 5", "a message has a wrong header"}}) {
    std::ofstream(script) << "#!/bin/sh\n" << text << "\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    IsolationDefaults defaults;
    defaults.process = true;
    defaults.program = script;
    const ModelConfig config = ConfigOf("name: \"m\" backend: \"identity\"");
    const auto backend = BackendOf(*backends_, "", config, defaults, {});
    ASSERT_TRUE(backend.ok());
    const auto model = (*backend)->Load({"/", ""}, config);
    EXPECT_NE(model.status().message().find(error), std::string::npos) << model.status().message();
  }
  std::filesystem::remove(script);
  IsolationDefaults missing;
  missing.process = true;
  missing.program = "/does/not/exist";
  const ModelConfig config = ConfigOf("name: \"m\" backend: \"identity\"");
  const auto model = (*BackendOf(*backends_, "", config, missing, {}))->Load({"/", ""}, config);
  EXPECT_EQ(model.status().code(), Code::kUnavailable);
}

}  // namespace
}  // namespace tern::server
