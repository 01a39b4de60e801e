#include "server/core/log.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

class LogTest : public testing::Test {
 protected:
  void SetUp() override { SetLogSettings({}); }
  void TearDown() override { SetLogSettings({}); }
  static std::string Lines() {
    testing::internal::CaptureStderr();
    Log(LogLevel::kInfo, "i");
    Log(LogLevel::kWarning, "w");
    Log(LogLevel::kError, "e");
    Log(LogLevel::kVerbose, "v");
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogTest, WritesTheLevelsThatAreOn) {
  EXPECT_EQ(Lines(), "info: i\nwarning: w\nerror: e\n");
  SetLogSettings({false, true, true, 0, false});
  EXPECT_EQ(Lines(), "warning: w\nerror: e\n");
  SetLogSettings({true, false, false, 2147483647, false});
  EXPECT_EQ(Lines(), "info: i\nverbose: v\n");
  EXPECT_EQ(CurrentLogSettings().verbose, 2147483647);
  SetLogSettings({false, false, false, 0, true});
  EXPECT_EQ(Lines(), "");
}

TEST_F(LogTest, WritesTheTime) {
  SetLogSettings({false, false, true, 0, true});
  const std::string line = Lines();
  ASSERT_EQ(line.size(), std::string("2026-11-16T19:05:56.123456Z error: e\n").size()) << line;
  EXPECT_EQ(line.substr(26), "Z error: e\n");
  EXPECT_EQ(line[10], 'T');
}

TEST_F(LogTest, AMessageIsOneLine) {
  testing::internal::CaptureStderr();
  Log(LogLevel::kError, std::string("a\nerror: b\r\x1b\0c", 15));
  Log(LogLevel::kError, std::string(100'000, 'x'));
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find("error: a error: b   c"), 0u) << text.substr(0, 40);
  EXPECT_LT(text.size(), 9000u);
}

}  // namespace
}  // namespace tern::server
