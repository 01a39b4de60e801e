#include "server/observe/settings_store.h"

#include <gtest/gtest.h>

#include "server/core/log.h"

namespace tern::server {
namespace {

std::unique_ptr<SettingsStore> Store(TraceStart trace = {}) {
  auto store = SettingsStore::Create(trace, {}, nullptr);
  EXPECT_TRUE(store.ok()) << store.status().ToString();
  return std::move(*store);
}

TEST(SettingsStore, StartsWithTritonsDefaults) {
  const Settings wanted = {{"trace_file", {""}},    {"trace_level", {"OFF"}}, {"trace_rate", {"1000"}},
                           {"trace_count", {"-1"}}, {"log_frequency", {"0"}}, {"trace_mode", {"triton"}}};
  EXPECT_EQ(*Store()->Trace(""), wanted);
  EXPECT_EQ(*Store()->Trace("m"), wanted);
}

TEST(SettingsStore, ModelsInheritAndOverride) {
  const auto store = Store();
  ASSERT_TRUE(store->SetTrace("m", {{"trace_rate", {"5"}}}).ok());
  ASSERT_TRUE(store->SetTrace("", {{"trace_rate", {"7"}}, {"trace_count", {"9"}}}).ok());
  EXPECT_EQ(store->Trace("m")->at("trace_rate")[0], "5");
  EXPECT_EQ(store->Trace("m")->at("trace_count")[0], "9");
  EXPECT_EQ(store->Trace("other")->at("trace_rate")[0], "7");
}

TEST(SettingsStore, EmptyValuesClear) {
  const auto store = Store();
  ASSERT_TRUE(store->SetTrace("", {{"trace_rate", {"7"}}}).ok());
  ASSERT_TRUE(store->SetTrace("m", {{"trace_rate", {"5"}}}).ok());
  ASSERT_TRUE(store->SetTrace("m", {{"trace_rate", {}}}).ok());
  EXPECT_EQ(store->Trace("m")->at("trace_rate")[0], "7");
  ASSERT_TRUE(store->SetTrace("", {{"trace_rate", {}}, {"trace_level", {}}}).ok());
  EXPECT_EQ(store->Trace("m")->at("trace_rate")[0], "1000");
}

TEST(SettingsStore, RefusesBadValuesAndChangesNothing) {
  const auto store = Store();
  const Settings before = *store->Trace("");
  const Settings bad[] = {{{"trace_rate", {"x"}}},           {{"trace_rate", {"-1"}}},
                          {{"trace_rate", {"4294967296"}}},  {{"trace_count", {"-2"}}},
                          {{"trace_rate", {"1", "2"}}},      {{"trace_level", {"OFF", "TENSORS"}}},
                          {{"trace_level", {"timestamps"}}}, {{"trace_colour", {"1"}}},
                          {{"trace_file", {"/etc/passwd"}}}, {{"trace_count", {"5"}}, {"trace_rate", {""}}}};
  for (const Settings& changes : bad)
    EXPECT_FALSE(store->SetTrace("", changes).ok()) << changes.begin()->first;
  EXPECT_EQ(*store->Trace(""), before);
  EXPECT_EQ(store->SetTrace("", {{"trace_file", {"x"}}}).status().message(),
            "trace file location can not be updated through network protocol");
}

TEST(SettingsStore, RefusesUnknownModels) {
  const Registry none;
  const auto store = std::move(*SettingsStore::Create({}, {}, &none));
  EXPECT_EQ(store->Trace("m").status().code(), Code::kNotFound);
  EXPECT_EQ(store->Trace("m").status().message(), "Request for unknown model : m");
  EXPECT_TRUE(store->Trace("").ok());
}

TEST(SettingsStore, SamplesByRateCountAndCaller) {
  const auto store = Store({.level = {"TIMESTAMPS"}, .rate = 3, .count = 3});
  EXPECT_TRUE(store->tracing());
  std::vector<bool> sampled;
  for (int i = 0; i < 5; ++i) sampled.push_back(store->Sample("m", false));
  EXPECT_EQ(sampled, (std::vector<bool>{true, false, false, true, false}));
  EXPECT_TRUE(store->Sample("m", true));
  EXPECT_FALSE(store->Sample("m", true)) << "three traces were made";
  EXPECT_FALSE(Store()->Sample("m", true)) << "the level is OFF";
}

TEST(SettingsStore, RateZeroTracesOnlyWhatCallersSample) {
  const auto store = Store({.level = {"TIMESTAMPS"}, .rate = 0});
  EXPECT_FALSE(store->Sample("m", false));
  EXPECT_TRUE(store->Sample("m", true));
}

TEST(SettingsStore, LogSettingsAreTyped) {
  const auto store = Store();
  EXPECT_EQ(std::get<bool>(store->Log()["log_info"]), true);
  EXPECT_EQ(std::get<int64_t>(store->Log()["log_verbose_level"]), 0);
  EXPECT_EQ(std::get<std::string>(store->Log()["log_format"]), "default");
  EXPECT_TRUE(store->SetLog({{"log_info", false}, {"log_verbose_level", int64_t{2}}}).ok());
  EXPECT_EQ(std::get<bool>(store->Log()["log_info"]), false);
  EXPECT_FALSE(CurrentLogSettings().info) << "the log of the process";
  EXPECT_EQ(CurrentLogSettings().verbose, 2);
  EXPECT_TRUE(store->SetLog({{"log_format", std::string("ISO8601")}}).ok());
  EXPECT_TRUE(CurrentLogSettings().with_time);
  EXPECT_FALSE(store->SetLog({{"log_info", int64_t{1}}}).ok());
  EXPECT_FALSE(store->SetLog({{"log_verbose_level", int64_t{-1}}}).ok());
  EXPECT_FALSE(store->SetLog({{"log_verbose_level", true}}).ok());
  EXPECT_FALSE(store->SetLog({{"log_format", std::string("xml")}}).ok());
  EXPECT_FALSE(store->SetLog({{"log_file", std::string("/tmp/x")}}).ok());
  EXPECT_FALSE(store->SetLog({{"other", true}}).ok());
  EXPECT_FALSE(store->SetLog({{"log_error", false}, {"other", true}}).ok());
  EXPECT_TRUE(CurrentLogSettings().error) << "all changes or none";
  SetLogSettings({});
}

}  // namespace
}  // namespace tern::server
