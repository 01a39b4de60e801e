#include "server/observe/metrics_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace tern::server {
namespace {

class FakeVersion : public ModelVersion {
 public:
  explicit FakeVersion(ModelConfig config) : ModelVersion(std::move(config), "3") {}
  void Submit(std::shared_ptr<Call>) override {}
  size_t MemoryBytes() const override { return 42; }
  size_t Pending() const override { return 7; }
  std::vector<std::pair<std::string, double>> Metrics() const override { return {{"plans \"x\"", 2}}; }
};

// It took 0.25 s to load.
std::shared_ptr<FakeVersion> Version(std::map<std::string, std::string> tags = {}) {
  ModelConfig config;
  config.name = "a\"b";
  config.metric_tags = std::move(tags);
  auto version = std::make_shared<FakeVersion>(std::move(config));
  version->SetLoadTime(std::chrono::milliseconds(250));
  return version;
}

std::string TextOf(const Versions& versions) {
  MetricsText text;
  AppendModelMetrics(versions, text);
  return text.Take();
}

bool Has(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsText, EscapesLabelsAndNumbers) {
  MetricsText text;
  text.Family("m", "gauge", "help");
  text.Sample("m", {{"k", "a\\\"\nb"}}, 0.5);
  text.Sample("m", {}, std::numeric_limits<double>::infinity());
  EXPECT_EQ(text.Take(), "# HELP m help\n# TYPE m gauge\nm{k=\"a\\\\\\\"\\nb\"} 0.5\nm +Inf\n");
}

TEST(MetricsText, TritonsNamesAndLabels) {
  const std::string text = TextOf({Version()});
  for (const char* name : {"nv_inference_request_success", "nv_inference_count", "nv_inference_exec_count",
                           "nv_inference_request_duration_us", "nv_inference_queue_duration_us",
                           "nv_inference_compute_input_duration_us", "nv_inference_compute_infer_duration_us",
                           "nv_inference_compute_output_duration_us"})
    EXPECT_TRUE(Has(text, std::string(name) + R"({model="a\"b",version="3"} 0)")) << name;
  for (const char* reason : {"REJECTED", "CANCELED", "BACKEND", "OTHER"})
    EXPECT_TRUE(Has(text, std::string(R"(nv_inference_request_failure{model="a\"b",version="3",reason=")") +
                              reason + "\"} 0"));
  EXPECT_TRUE(Has(text, R"(nv_inference_pending_request_count{model="a\"b",version="3"} 7)"));
  EXPECT_TRUE(Has(text, R"(nv_model_load_duration_secs{model="a\"b",version="3"} 0.25)")) << text;
  EXPECT_TRUE(Has(text, R"(tern_model_memory_bytes{model="a\"b",version="3"} 42)"));
  EXPECT_TRUE(Has(text, R"(tern_backend_value{model="a\"b",version="3",name="plans \"x\""} 2)")) << text;
}

TEST(MetricsText, CountsAndHistogramsOfARequest) {
  using namespace std::chrono_literals;
  const auto version = Version();
  const Clock::time_point t = Clock::now();
  version->statistics().AddSuccess({t + 10us, t + 30us, t + 30us, t + 40us, t + 740us, t + 800us}, t, 4);
  const std::string text = TextOf({version});
  EXPECT_TRUE(Has(text, R"(nv_inference_request_success{model="a\"b",version="3"} 1)")) << text;
  EXPECT_TRUE(
      Has(text,
          R"(tern_request_duration_seconds_bucket{model="a\"b",version="3",phase="request",le="0.0005"} 0)"));
  EXPECT_TRUE(
      Has(text,
          R"(tern_request_duration_seconds_bucket{model="a\"b",version="3",phase="request",le="0.001"} 1)"));
  EXPECT_TRUE(Has(
      text, R"(tern_request_duration_seconds_bucket{model="a\"b",version="3",phase="request",le="+Inf"} 1)"));
  EXPECT_TRUE(
      Has(text, R"(tern_request_duration_seconds_count{model="a\"b",version="3",phase="compute"} 1)"));
}

TEST(MetricsText, TagsBecomeLabelsUnlessTheirNamesAreInvalid) {
  const std::string text = TextOf({Version({{"team", "x"}, {"bad name", "y"}, {"1st", "z"}})});
  EXPECT_TRUE(Has(text, R"(nv_inference_count{model="a\"b",version="3",team="x"} 0)")) << text;
}

TEST(MetricsText, NoModelsGiveNoSamples) {
  const std::string text = TextOf({});
  EXPECT_EQ(text.find('{'), std::string::npos);
  EXPECT_NE(text.find("# TYPE nv_inference_request_success counter"), std::string::npos);
}

}  // namespace
}  // namespace tern::server
