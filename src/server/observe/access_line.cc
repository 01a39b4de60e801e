#include "server/observe/access_line.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "data/json_writer.h"

namespace tern::server {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::nanoseconds;

// A time point that was never set equals Clock::time_point{}.
nanoseconds Between(Clock::time_point from, Clock::time_point to) {
  if (from == Clock::time_point{} || to <= from) return nanoseconds{0};
  return to - from;
}

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

// A client can send an id of any length, so only the start of a value is written.
void AppendField(const char* name, std::string_view value, std::string& out) {
  constexpr size_t kMaxBytes = 16384;
  value = value.substr(0, kMaxBytes);
  if (value.empty()) return;
  out += name;
  AppendJsonText(value, out);
}

void AppendMicroseconds(const char* name, nanoseconds value, std::string& out) {
  out += name;
  AppendText(out, static_cast<long long>(duration_cast<microseconds>(value).count()));
}

void AppendPhases(const PhaseTimes& p, std::string& out) {
  AppendMicroseconds(",\"phases_us\":{\"parse\":", p.parse, out);
  AppendMicroseconds(",\"queue\":", p.queue, out);
  AppendMicroseconds(",\"input\":", p.input, out);
  AppendMicroseconds(",\"compute\":", p.compute, out);
  AppendMicroseconds(",\"output\":", p.output, out);
  AppendMicroseconds(",\"send\":", p.send, out);
  if (p.cache.count() > 0) AppendMicroseconds(",\"cache\":", p.cache, out);
  out += '}';
}

}  // namespace

PhaseTimes PhasesOf(const AccessRecord& record, Clock::time_point now) {
  PhaseTimes p;
  if (!record.times) return p;
  const CallTimes& t = *record.times;
  p.cache = t.cache;
  if (t.queued != Clock::time_point{})
    p.parse = std::max(nanoseconds{0}, t.queued - (now - record.duration) - t.held - t.cache);
  p.queue = Between(t.queued, t.started) + t.earlier.queue + t.held;
  p.input = Between(t.input, t.compute) + t.earlier.input;
  p.compute = Between(t.compute, t.output) + t.earlier.compute;
  p.output = Between(t.output, t.finished) + t.earlier.output;
  p.send = Between(t.finished, now);
  return p;
}

void AppendTime(std::chrono::system_clock::time_point time, std::string& out) {
  const auto us = duration_cast<microseconds>(time.time_since_epoch()).count();
  const std::time_t seconds = us / 1'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(us % 1'000'000));
  out += text;
}

void AppendJsonText(std::string_view text, std::string& out) {
  if (!IsPlain(text)) {
    out += data::JsonWriter().Text(text).text();
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void AppendAccessLine(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                      Clock::time_point now, std::string& out) {
  out += "{\"time\":\"";
  AppendTime(wall, out);
  out += '"';
  AppendField(",\"protocol\":", record.protocol, out);
  AppendField(",\"method\":", record.method, out);
  AppendField(",\"target\":", record.target, out);
  AppendField(",\"user\":", record.user, out);
  out += ",\"status\":";
  AppendText(out, record.status);
  AppendField(",\"model\":", record.model, out);
  AppendField(",\"version\":", record.version, out);
  AppendField(",\"request_id\":", record.request_id, out);
  if (record.trace) AppendField(",\"trace_id\":", record.trace->trace_id, out);
  out += ",\"received_bytes\":";
  AppendText(out, record.received);
  out += ",\"sent_bytes\":";
  AppendText(out, record.sent);
  AppendMicroseconds(",\"duration_us\":", record.duration, out);
  if (record.times) AppendPhases(PhasesOf(record, now), out);
  AppendField(",\"error\":", record.error, out);
  out += "}\n";
}

}  // namespace tern::server
