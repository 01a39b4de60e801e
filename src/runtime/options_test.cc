#include "runtime/options.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tern {
namespace {

std::string MessageOf(const SessionOptions& options, OptionText text = SettingText) {
  const Status status = options.Validate(text);
  EXPECT_TRUE(status.ok() || status.code() == Code::kInvalidArgument) << status.ToString();
  return status.ok() ? "" : status.message();
}

TEST(Options, DefaultsAreValid) { EXPECT_EQ(MessageOf({}), ""); }

TEST(Options, RangesNameOptionValueAndLimits) {
  EXPECT_EQ(MessageOf({.threads = -1}), "threads must be 0 (one per core) or up to 1024, got -1");
  EXPECT_EQ(MessageOf({.threads = 1025}), "threads must be 0 (one per core) or up to 1024, got 1025");
  EXPECT_EQ(MessageOf({.threads = 1024}), "");
  EXPECT_EQ(MessageOf({.plan_cache = 0}), "plan_cache must be at least 1, got 0");
  EXPECT_EQ(MessageOf({.tune_ms = -1}), "tune_ms -1 is not between 0 and 600000");
  EXPECT_EQ(MessageOf({.tune_ms = 600'001}), "tune_ms 600001 is not between 0 and 600000");
  EXPECT_EQ(MessageOf({.tune_within = 0.5}), "tune_within 0.5 is below 1 or not a number");
  EXPECT_EQ(MessageOf({.tune_within = std::nan("")}), "tune_within nan is below 1 or not a number");
  EXPECT_EQ(MessageOf({.cache_dir = std::string("a\0b", 3)}), "cache_dir has a NUL at byte 1, after 'a'");
}

TEST(Options, StatesAreWordsOrPairs) {
  for (const char* fine : {"", "auto", "none", "a=b", "a=b,c=d"})
    EXPECT_EQ(MessageOf({.states = fine}), "") << fine;
  EXPECT_EQ(MessageOf({.states = "past"}),
            "states \"past\": states must be auto, none or a list of PAST=PRESENT; got 'past'");
  EXPECT_NE(MessageOf({.states = "a=b,"}).find("got ''"), std::string::npos);
  EXPECT_NE(MessageOf({.states = "=b"}).find("got '=b'"), std::string::npos);
}

TEST(Options, TheReferenceExcludesWhatNeedsKernels) {
  EXPECT_EQ(
      MessageOf({.reference = true, .tune_ms = 5}),
      "tune_ms 5 and reference(true) exclude each other: the reference evaluator has no kernels to measure");
  EXPECT_NE(MessageOf({.reference = true, .cache_dir = "d"}).find("cache_dir 'd' and reference(true)"),
            std::string::npos);
  EXPECT_NE(MessageOf({.reference = true, .precision = Precision::kBf16}).find("precision \"bf16\" and"),
            std::string::npos);
  EXPECT_EQ(MessageOf({.reference = true, .precision = Precision::kAuto, .cache_dir = ""}), "");
}

TEST(Options, MessagesUseTheUsersNames) {
  const auto flag = [](std::string_view option, std::string_view value) {
    return StrCat("--", option, "=", value);
  };
  EXPECT_EQ(
      MessageOf({.reference = true, .tune_ms = 5}, flag).find("--tune_ms=5 and --reference=true exclude"),
      0u);
}

TEST(Options, ResolvedHasNoZeros) {
  const SessionOptions plain = SessionOptions{}.Resolved();
  EXPECT_GT(plain.memory_limit, 0u);
  EXPECT_GT(plain.collect_limit, 0u);
  EXPECT_EQ((SessionOptions{.memory_limit = 7, .collect_limit = 9}.Resolved().memory_limit), 7u);
  const SessionOptions slow = SessionOptions{.reference = true, .level = Level::kLayout}.Resolved();
  EXPECT_EQ(slow.level, Level::kNone);
}

}  // namespace
}  // namespace tern
