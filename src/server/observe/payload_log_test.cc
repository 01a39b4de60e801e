#include "server/observe/payload_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "server/scheduler/test_support.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

class PayloadLogTest : public testing::Test {
 protected:
  PayloadLogTest() : model_(IntModel(4), Identity) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~PayloadLogTest() override { fs::remove_all(folder_); }

  void Send(PayloadLog& log, int count) {
    for (int i = 0; i < count; ++i) {
      const auto call = IntCall(i);
      call->request.id = StrCat("id", i);
      log.Watch(*call, *model_.model);
      ASSERT_TRUE(model_.Run(call).status.ok());
    }
  }
  static std::vector<std::string> Lines(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  const std::string folder_ = testing::TempDir() + "tern_payload", file_ = folder_ + "/log";
  SchedulerWithModel model_;
};

TEST_F(PayloadLogTest, WritesASampleThatCanBeSentAgain) {
  {
    auto log = PayloadLog::Open({.file = file_, .rate = 3});
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    Send(**log, 7);
  }
  const auto lines = Lines(file_);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1].find("\"model\":\"m\",\"version\":\"1\",\"duration_us\":"), std::string::npos)
      << lines[1];
  EXPECT_NE(lines[1].find("\"request\":{\"id\":\"id3\",\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT32\","
                          "\"shape\":[1,1],\"data\":[3]}]},\"response\":{\"outputs\":[{\"name\":\"y\","
                          "\"datatype\":\"INT32\",\"shape\":[1,1],\"data\":[3]}]}}"),
            std::string::npos)
      << lines[1];
  struct stat info {};
  ASSERT_EQ(stat(file_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(PayloadLogTest, WritesParametersSequencesAndErrors) {
  Request request;
  request.parameters = {{"p", true}};
  request.sequence = {"5", true, true, false};
  request.priority = 2;
  request.outputs = {{"y", 3}, {"z", 0}};
  Response response;
  response.status = InvalidArgument("wrong \"x\"");
  std::string line;
  ASSERT_TRUE(AppendPayload(request, response, line).ok());
  EXPECT_EQ(
      line,
      ",\"request\":{\"parameters\":{\"p\":true,\"sequence_id\":5,\"sequence_start\":true,"
      "\"sequence_end\":false,\"priority\":2},\"inputs\":[],\"outputs\":[{\"name\":\"y\",\"parameters\":{"
      "\"classification\":3}},{\"name\":\"z\"}]},\"response\":{\"error\":\"wrong \\\"x\\\"\"}");
}

TEST_F(PayloadLogTest, RotatesFilesOfBoundedSize) {
  {
    auto log = PayloadLog::Open({.file = file_, .rate = 1, .max_bytes = 4096, .files = 3});
    ASSERT_TRUE(log.ok());
    Send(**log, 100);
  }
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_LE(fs::file_size(entry.path()), 4096u);
    ++count;
  }
  EXPECT_EQ(count, 3u);
  EXPECT_NE(Lines(file_).back().find("\"id\":\"id99\""), std::string::npos);
}

TEST_F(PayloadLogTest, DropsWhatIsTooLargeOrHasNoJsonForm) {
  auto log = PayloadLog::Open({.file = file_, .rate = 1});
  ASSERT_TRUE(log.ok());
  const auto large = std::make_shared<TestCall>();
  large->request.inputs = {Ints("x", {1, 300'000}, std::vector<int32_t>(300'000))};
  (*log)->Watch(*large, *model_.model);
  ASSERT_TRUE(model_.Run(large).status.ok());
  EXPECT_EQ((*log)->dropped(), 1u);
  const auto binary = std::make_shared<TestCall>();
  binary->request.inputs = {Strings("x", {1, 1}, {"\xff\xfe"})};
  (*log)->Watch(*binary, *model_.model);
  model_.Run(binary);
  EXPECT_TRUE(Eventually([&] { return (*log)->dropped() == 2; }));
}

TEST_F(PayloadLogTest, RefusesAFileThatCannotBeOpened) {
  EXPECT_FALSE(PayloadLog::Open({.file = "/nonexistent/log"}).ok());
}

}  // namespace
}  // namespace tern::server
