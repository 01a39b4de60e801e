#include "server/observe/access_line.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

using namespace std::chrono_literals;

const std::chrono::system_clock::time_point kWallOfLine{std::chrono::microseconds(1'793'894'712'123'456)};

std::string Line(const AccessRecord& record, Clock::time_point now = Clock::time_point(10s)) {
  std::string out;
  AppendAccessLine(record, kWallOfLine, now, out);
  return out;
}

TEST(AccessLine, TimeIsIso8601InUtc) {
  std::string out;
  AppendTime(std::chrono::system_clock::time_point(std::chrono::microseconds(1'000'001)), out);
  EXPECT_EQ(out, "1970-01-01T00:00:01.000001Z");
}

TEST(AccessLine, RequestWithoutInference) {
  AccessRecord record;
  record.protocol = "http";
  record.method = "GET";
  record.target = "/v2";
  record.status = 200;
  record.sent = 12;
  record.duration = 1500ns;
  const std::string line = Line(record);
  EXPECT_NE(line.find("\"protocol\":\"http\",\"method\":\"GET\",\"target\":\"/v2\",\"status\":200,"
                      "\"received_bytes\":0,\"sent_bytes\":12,\"duration_us\":1}\n"),
            std::string::npos)
      << line;
}

TEST(AccessLine, LongTextIsCut) {
  AccessRecord record;
  const std::string id(1'000'000, 'x');
  record.request_id = id;
  const std::string line = Line(record);
  EXPECT_LT(line.size(), 20'000u);
  EXPECT_NE(line.find("\"request_id\":\"xxx"), std::string::npos);
  EXPECT_TRUE(line.ends_with("}\n"));
}

TEST(AccessLine, HostileTextCannotBreakTheLine) {
  AccessRecord record;
  record.target = "/a\"\n{\xff";
  record.request_id = std::string_view("\0\x1b[2J", 5);
  const std::string line = Line(record);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  EXPECT_NE(line.find(R"("/a\"\n{)"), std::string::npos) << line;
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(line.find('\xff'), std::string::npos);
}

TEST(AccessLine, Phases) {
  const Clock::time_point start(5s);
  CallTimes t{start + 1us, start + 3us, start + 3us, start + 7us, start + 15us, start + 31us};
  AccessRecord record;
  record.times = &t;
  record.duration = 63us;
  const PhaseTimes p = PhasesOf(record, start + 63us);
  EXPECT_EQ(p.parse, 1us);
  EXPECT_EQ(p.queue, 2us);
  EXPECT_EQ(p.input, 4us);
  EXPECT_EQ(p.compute, 8us);
  EXPECT_EQ(p.output, 16us);
  EXPECT_EQ(p.send, 32us);
  EXPECT_NE(Line(record, start + 63us).find("\"phases_us\":{\"parse\":1,\"queue\":2"), std::string::npos);
}

TEST(AccessLine, TimesThatWereNeverSetGiveZero) {
  const CallTimes t{};
  AccessRecord record;
  record.times = &t;
  record.duration = 5us;
  const PhaseTimes p = PhasesOf(record, Clock::time_point(9s));
  for (const auto d : {p.parse, p.queue, p.input, p.compute, p.output, p.send}) EXPECT_EQ(d, 0us);
}

}  // namespace
}  // namespace tern::server
