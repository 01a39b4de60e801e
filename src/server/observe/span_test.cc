#include "server/observe/span.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

using namespace std::chrono_literals;

const std::chrono::system_clock::time_point kWall{std::chrono::nanoseconds(2'000'000'000)};
const Clock::time_point kNow{100s};

TEST(Span, IdsAreHexadecimalAndDiffer) {
  const std::string a = RandomHex(32), b = RandomHex(32);
  EXPECT_EQ(a.size(), 32u);
  EXPECT_EQ(a.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(a, b);
}

TEST(Span, ContinuesTheCallersTrace) {
  const TraceContext trace{std::string(32, 'a'), std::string(16, 'b'), true};
  const Clock::time_point t = kNow - 100us;
  const CallTimes times{t + 10us, t + 20us, t + 20us, t + 30us, t + 80us, t + 90us};
  AccessRecord record;
  record.model = "m";
  record.duration = 100us;
  record.trace = &trace;
  record.times = &times;
  const std::vector<Span> spans = SpansOf(record, kWall, kNow);
  ASSERT_EQ(spans.size(), 3u);
  EXPECT_EQ(spans[0].trace_id, trace.trace_id);
  EXPECT_EQ(spans[0].parent_id, trace.parent_id);
  EXPECT_EQ(spans[0].name, "infer m");
  EXPECT_EQ(spans[0].start_ns, 2'000'000'000u - 100'000u);
  EXPECT_EQ(spans[1].parent_id, spans[0].span_id);
  EXPECT_EQ(spans[1].end_ns - spans[1].start_ns, 10'000u);
  EXPECT_EQ(spans[2].name, "compute");
  EXPECT_EQ(spans[2].end_ns - spans[2].start_ns, 70'000u);
}

TEST(Span, StartsATraceWithoutACaller) {
  AccessRecord record;
  record.method = "GET";
  record.target = "/v2";
  const std::vector<Span> spans = SpansOf(record, kWall, kNow);
  ASSERT_EQ(spans.size(), 1u);
  EXPECT_EQ(spans[0].trace_id.size(), 32u);
  EXPECT_EQ(spans[0].parent_id, "");
  EXPECT_EQ(spans[0].name, "GET /v2");
}

TEST(Span, OtlpHasTheFieldsOfTheSpecification) {
  Span span;
  span.trace_id = std::string(32, '1');
  span.span_id = std::string(16, '2');
  span.name = "x\"y";
  span.start_ns = 5;
  span.end_ns = 9;
  span.error = "bad";
  span.numbers = {{"n", -3}};
  const std::string json = OtlpJson({span}, "tern", "0.1");
  for (
      const char* part :
      {R"("resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"tern"}})",
       R"("scopeSpans":[{"scope":{"name":"tern","version":"0.1"},"spans":[{"traceId":"1111)",
       R"("name":"x\"y","kind":1,"startTimeUnixNano":"5","endTimeUnixNano":"9")",
       R"({"key":"n","value":{"intValue":"-3"}})", R"("status":{"code":2,"message":"bad"})"})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

TEST(Span, TritonsFileNamesTheTimestamps) {
  AccessRecord record;
  record.model = "m";
  record.version = "2";
  const std::string json = TritonTraceJson(record, 7, kNow);
  EXPECT_NE(
      json.find(R"({"id":7,"model_name":"m","model_version":2,"request_id":""},{"id":7,"timestamps":[)"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find(R"({"name":"REQUEST_END","ns":100000000000})"), std::string::npos) << json;
}

}  // namespace
}  // namespace tern::server
