// A sandboxed process can do everything that models need, but not what a hostile model may try.
#include <sys/stat.h>

#include <cerrno>
#include <fstream>

#include "server/isolation/test_support.h"

namespace tern::server {
namespace {

class SandboxTest : public IsolationTest {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the run time of the sanitizer needs system calls that the sandbox refuses";
#endif
    folder_ = std::filesystem::path(testing::TempDir()) / StrCat("tern_sandbox_", getpid());
    std::filesystem::create_directories(folder_ / "model");
    std::ofstream(folder_ / "model" / "weights") << "weights";
    std::ofstream(folder_ / "secret") << "secret";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Status LoadIn(const std::string& text = "") {
    return Load("misbehave", ParameterText("sandbox", "true") + text, {(folder_ / "model").string(), ""});
  }
  std::string Path(const char* name) const { return (folder_ / name).string(); }

  std::filesystem::path folder_;
};

TEST_F(SandboxTest, ForbidsWhatModelsDoNotNeed) {
  const Status status = LoadIn();
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(Act(kSocket), EPERM);
  EXPECT_EQ(Act(kUnixSocket), EPERM);
  EXPECT_NE(Act(kExec), 0);
  EXPECT_EQ(Act(kFork), EPERM);
  EXPECT_EQ(Act(kWrite, Path("model/new")), EROFS);
  EXPECT_EQ(Act(kWrite, "/tmp/tern_sandbox_new"), EROFS);
  EXPECT_EQ(Act(kAppend, Path("model/weights")), EROFS);
  EXPECT_EQ(Act(kAppend, "/dev/null"), EROFS);
  EXPECT_EQ(Act(kRemove, Path("model/weights")), EPERM);
  EXPECT_EQ(Act(kMakeFolder, Path("model/folder")), EPERM);
  EXPECT_EQ(Act(kKill, StrCat(getpid())), EPERM);
  EXPECT_EQ(Act(kPtrace, StrCat(getpid())), EPERM);
  EXPECT_EQ(Act(kPrivileges), EPERM);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "model" / "weights"));
  EXPECT_EQ(process().epoch(), 1u) << "a refused call does not end the process";
}

TEST_F(SandboxTest, PermitsWhatModelsNeed) {
  ASSERT_TRUE(LoadIn().ok());
  EXPECT_EQ(Act(kNothing), 0);
  EXPECT_EQ(Act(kThread), 0);
  EXPECT_EQ(Act(kMemory, "64"), 0);
  EXPECT_EQ(Act(kRead, Path("model/weights")), 0);
  EXPECT_EQ(Act(kRead, "/proc/self/maps"), 0);
  EXPECT_EQ(Act(kSleep, "1"), 0);
  EXPECT_EQ(Act(kLog, "1"), 0);
  EXPECT_EQ(Act(kAbort), -1);
  ASSERT_TRUE(AwaitUp(2)) << "it can end itself, and runs in the sandbox again";
  EXPECT_EQ(Act(kSocket), EPERM);
}

TEST_F(SandboxTest, ReadsAreLimited) {
  const auto reads = RestrictReads;
  (void)reads;
  ASSERT_TRUE(LoadIn().ok());
  EXPECT_EQ(Act(kRead, Path("secret")), EACCES);
  EXPECT_EQ(Act(kRead, "/etc/passwd"), EACCES);
  EXPECT_EQ(Act(kRead, StrCat("/proc/", getpid(), "/mem")), EACCES);
  EXPECT_EQ(Act(kRead, StrCat("/proc/", getpid(), "/environ")), EACCES);
}

TEST_F(SandboxTest, LimitsHold) {
  ASSERT_TRUE(
      LoadIn(ParameterText("sandbox_memory_mb", "2000") + ParameterText("sandbox_cpu_secs", "1")).ok());
  EXPECT_EQ(Act(kMemory, "16"), 0);
  EXPECT_EQ(Act(kMemory, "4000"), ENOMEM);
  EXPECT_EQ(Act(kSpin), -1) << "the processor time ends";
  EXPECT_EQ(error_.code(), Code::kUnavailable);
  EXPECT_TRUE(AwaitUp(2));
}

TEST_F(SandboxTest, WithoutASandboxTheActionsWork) {
  ASSERT_TRUE(Load("misbehave", "", {(folder_ / "model").string(), ""}).ok());
  EXPECT_EQ(Act(kSocket), 0);
  EXPECT_EQ(Act(kExec), 0);
  EXPECT_EQ(Act(kFork), 0);
  EXPECT_EQ(Act(kWrite, Path("model/new")), 0);
  EXPECT_EQ(Act(kRead, Path("secret")), 0);
  EXPECT_EQ(Act(kPrivileges), 0);
}

TEST(IsolationOptions, ParametersAndSettings) {
  const auto isolation = [](const std::string& text, bool process = false, bool sandbox = false) {
    IsolationDefaults defaults;
    defaults.process = process;
    defaults.sandbox = sandbox;
    return IsolationOf(ConfigOf(StrCat("name: \"m\" backend: \"b\"\n", text)), defaults);
  };
  const std::string in_process = ParameterText("isolation", "process"),
                    none = ParameterText("isolation", "none"), on = ParameterText("sandbox", "true"),
                    off = ParameterText("sandbox", "false");
  EXPECT_FALSE(isolation("")->process);
  EXPECT_TRUE(isolation(in_process)->process);
  EXPECT_FALSE(isolation(in_process)->sandbox);
  EXPECT_TRUE(isolation("", true)->process);
  EXPECT_FALSE(isolation(none, true)->process);
  EXPECT_TRUE(isolation(on)->process && isolation(on)->sandbox);
  EXPECT_TRUE(isolation("", false, true)->sandbox);
  EXPECT_TRUE(isolation(off, true)->process);
  EXPECT_EQ(isolation(on + ParameterText("sandbox_memory_mb", "3"))->limits.memory_bytes, uint64_t{3} << 20);
  for (const auto& wrong :
       {isolation(none + on), isolation(none, false, true), isolation(off, false, true),
        isolation(ParameterText("isolation", "docker")), isolation(ParameterText("sandbox", "1")),
        isolation(ParameterText("sandbox_memory_mb", "3")),
        isolation(on + ParameterText("sandbox_open_files", "0"))})
    EXPECT_EQ(wrong.status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace tern::server
