#include "server/core/registry.h"

#include <gtest/gtest.h>

#include <thread>

namespace tern::server {
namespace {

class FakeVersion : public ModelVersion {
 public:
  FakeVersion(const std::string& name, std::string version) : ModelVersion(Named(name), std::move(version)) {}
  void Submit(std::shared_ptr<Call>) override {}
  size_t MemoryBytes() const override { return 0; }
  size_t Pending() const override { return 0; }

 private:
  static ModelConfig Named(const std::string& name) {
    ModelConfig config;
    config.name = name;
    return config;
  }
};

std::shared_ptr<ModelVersion> Make(const std::string& version, const std::string& name = "m") {
  return std::make_shared<FakeVersion>(name, version);
}

TEST(VersionLess, ComparesNumbersAsNumbers) {
  EXPECT_TRUE(VersionLess("2", "10"));
  EXPECT_FALSE(VersionLess("10", "2"));
  EXPECT_FALSE(VersionLess("7", "7"));
  EXPECT_TRUE(VersionLess("99999999999999999999998", "99999999999999999999999"));
  EXPECT_TRUE(VersionLess("9", "99999999999999999999999"));
  EXPECT_TRUE(VersionLess("0009", "10"));
  EXPECT_TRUE(VersionLess("0", "1"));
}

TEST(VersionLess, ComparesOtherVersionsAsText) {
  EXPECT_TRUE(VersionLess("v10", "v2"));
  EXPECT_TRUE(VersionLess("10", "a"));
  EXPECT_TRUE(VersionLess("", "1"));
}

TEST(VersionLess, IsAStrictOrder) {
  for (const char* a : {"", "0", "00", "1", "01", "v1"})
    for (const char* b : {"", "0", "00", "1", "01", "v1"})
      EXPECT_FALSE(VersionLess(a, b) && VersionLess(b, a)) << a << " " << b;
}

TEST(Registry, FindsTheLatestOrTheNamedVersion) {
  Registry registry;
  registry.Publish("m", {Make("10"), Make("9")});
  EXPECT_EQ((*registry.Find("m"))->version(), "10");
  EXPECT_EQ((*registry.Find("m", "9"))->version(), "9");
  EXPECT_EQ(registry.Versions("m").front()->version(), "9");
  EXPECT_TRUE(registry.Versions("x").empty());
}

TEST(Registry, NamesWhatIsMissing) {
  Registry registry;
  const auto unknown = registry.Find("m");
  EXPECT_EQ(unknown.status().code(), Code::kNotFound);
  EXPECT_EQ(unknown.status().message(), "Request for unknown model: 'm' is not found");
  registry.Publish("m", {Make("1")});
  const auto version = registry.Find("m", "2");
  EXPECT_EQ(version.status().code(), Code::kNotFound);
  EXPECT_EQ(version.status().message(), "Request for unknown model: 'm' version 2 is not found");
}

TEST(Registry, AVersionThatIsGoneIsUnavailable) {
  Registry registry;
  registry.Publish("m", {Make("1"), Make("2")});
  registry.Publish("m", {Make("1")});
  const auto gone = registry.Find("m", "2");
  EXPECT_EQ(gone.status().code(), Code::kUnavailable);
  EXPECT_EQ(gone.status().message(), "Request for unknown model: 'm' version 2 is not at ready state");
  EXPECT_EQ(registry.Find("m", "3").status().code(), Code::kNotFound);
  registry.Publish("m", {Make("1"), Make("2")});
  EXPECT_TRUE(registry.Find("m", "2").ok());
}

TEST(Registry, ForgetsVersionsThatAreLongGone) {
  Registry registry;
  for (int i = 0; i < 100; ++i) registry.Publish("m", {Make(std::to_string(i))});
  EXPECT_EQ(registry.Find("m", "0").status().code(), Code::kNotFound);
  EXPECT_EQ(registry.Find("m", "98").status().code(), Code::kUnavailable);
}

TEST(Registry, AnEmptyListRemovesTheModel) {
  Registry registry;
  registry.Publish("m", {Make("1")});
  registry.Publish("n", {Make("1", "n"), Make("2", "n")});
  EXPECT_EQ(registry.All().size(), 3u);
  registry.Publish("m", {});
  EXPECT_FALSE(registry.Find("m").ok());
  EXPECT_EQ(registry.All().size(), 2u);
}

TEST(Registry, ReadersSeeWholeSnapshots) {
  Registry registry;
  registry.Publish("m", {Make("1"), Make("2")});
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; i < 500; ++i) registry.Publish("m", {Make("1"), Make(std::to_string(i + 2))});
    stop = true;
  });
  while (!stop) {
    EXPECT_EQ(registry.Versions("m").size(), 2u);
    EXPECT_TRUE(registry.Find("m").ok());
  }
  writer.join();
}

TEST(WireName, RoundTrips) {
  for (int i = 0; i < static_cast<int>(DType::kCount); ++i) {
    const auto dtype = static_cast<DType>(i);
    if (*WireName(dtype)) {
      EXPECT_EQ(WireType(WireName(dtype)), dtype);
    }
  }
  EXPECT_STREQ(WireName(DType::kString), "BYTES");
  EXPECT_STREQ(WireName(DType::kI4), "");
  EXPECT_EQ(WireType("fp32"), DType::kInvalid);
  EXPECT_EQ(WireType(""), DType::kInvalid);
}

TEST(ModelConfig, FindsTensorsByName) {
  ModelConfig config;
  config.inputs.push_back({.name = "a"});
  config.outputs.push_back({.name = "b"});
  EXPECT_EQ(config.FindInput("a"), &config.inputs[0]);
  EXPECT_EQ(config.FindInput("b"), nullptr);
  EXPECT_EQ(config.FindOutput("b"), &config.outputs[0]);
}

TEST(Registry, LabelsNameVersions) {
  Registry registry;
  registry.Publish("m", {Make("1"), Make("2")});
  EXPECT_EQ(registry.Find("m", "stable").status().message(),
            "Request for unknown model: 'm' version stable is not found: the model has no label 'stable'");
  EXPECT_EQ(registry.Find("m", "stable").status().code(), Code::kNotFound);
  VersionRoute route;
  route.labels = {{"stable", {"1", nullptr}}, {"canary", {"2", nullptr}}, {"lost", {"9", nullptr}}};
  registry.SetRoute("m", route);
  EXPECT_EQ((*registry.Find("m", "stable"))->version(), "1");
  EXPECT_EQ((*registry.FindLabel("m", "canary"))->version(), "2");
  EXPECT_EQ((*registry.Find("m"))->version(), "2") << "labels do not change the default";
  EXPECT_EQ(registry.FindLabel("m", "2").status().code(), Code::kNotFound) << "a number is no label";
  EXPECT_EQ(registry.FindLabel("none", "stable").status().code(), Code::kNotFound);
  EXPECT_EQ(registry.Find("m", "lost").status().code(), Code::kUnavailable);
  EXPECT_EQ(registry.Labels("m").at("lost"), "9");
  EXPECT_TRUE(registry.Labels("none").empty());
  registry.Publish("m", {Make("2"), Make("3")});
  EXPECT_EQ((*registry.Find("m", "canary"))->version(), "2") << "labels stay";
  EXPECT_EQ(registry.Find("m", "stable").status().message(),
            "Request for unknown model: 'm' version 1, which label 'stable' names, is not at ready state");
}

TEST(Registry, TakesRoutesFromARouter) {
  Registry registry;
  std::string wanted = "1";
  registry.SetRouter([&](const std::string&, const std::vector<std::shared_ptr<ModelVersion>>& versions) {
    VersionRoute route;
    for (const auto& version : versions)
      if (version->version() == wanted) route.unversioned = version;
    route.labels["stable"] = {wanted, versions.empty() ? nullptr : versions.back()};
    return route;
  });
  registry.Publish("m", {Make("1"), Make("2")});
  EXPECT_EQ((*registry.Find("m"))->version(), "1");
  EXPECT_EQ((*registry.Find("m", "stable"))->version(), "2") << "what stands before version 1";
  EXPECT_EQ((*registry.Find("m", "1"))->version(), "1");
  wanted = "2";
  EXPECT_EQ((*registry.Find("m"))->version(), "1");
  registry.Reroute("m");
  registry.Reroute("none");
  EXPECT_EQ((*registry.Find("m"))->version(), "2");
  registry.Publish("m", {});
  EXPECT_FALSE(registry.Find("m").ok());
  registry.SetRouter({});
}

TEST(IsLabelName, AllowsNames) {
  for (const char* name : {"stable", "_x", "v1.2-rc_3"}) EXPECT_TRUE(IsLabelName(name)) << name;
  for (const char* name : {"", "1", "1a", "-1", ".", "a/b", "a b", "\xc3\xa4"})
    EXPECT_FALSE(IsLabelName(name)) << name;
  EXPECT_FALSE(IsLabelName(std::string(129, 'a')));
}

}  // namespace
}  // namespace tern::server
