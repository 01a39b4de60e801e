#include "server/observe/span.h"

#include <algorithm>
#include <random>

#include "data/json_writer.h"

namespace tern::server {
namespace {

using data::JsonWriter;
using std::chrono::nanoseconds;

uint64_t SinceEpoch(std::chrono::system_clock::time_point time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count());
}

class Timeline {
 public:
  Timeline(std::chrono::system_clock::time_point wall, Clock::time_point now)
      : wall_(SinceEpoch(wall)), now_(now) {}
  uint64_t At(Clock::time_point t) const {
    return wall_ - static_cast<uint64_t>(std::max<int64_t>(0, nanoseconds(now_ - t).count()));
  }

 private:
  uint64_t wall_;
  Clock::time_point now_;
};

void Attribute(JsonWriter& json, std::string_view key, std::string_view type, std::string_view value) {
  json.BeginObject().Key("key").Text(key).Key("value").BeginObject();
  json.Key(type).Text(value).EndObject().EndObject();
}

void WriteSpan(const Span& span, JsonWriter& json) {
  json.BeginObject().Key("traceId").Text(span.trace_id).Key("spanId").Text(span.span_id);
  if (!span.parent_id.empty()) json.Key("parentSpanId").Text(span.parent_id);
  json.Key("name").Text(span.name).Key("kind").Int(span.server ? 2 : 1);
  json.Key("startTimeUnixNano").Text(StrCat(span.start_ns)).Key("endTimeUnixNano").Text(StrCat(span.end_ns));
  json.Key("attributes").BeginArray();
  for (const auto& [key, value] : span.texts) Attribute(json, key, "stringValue", value);
  for (const auto& [key, value] : span.numbers) Attribute(json, key, "intValue", StrCat(value));
  json.EndArray();
  if (!span.error.empty())
    json.Key("status").BeginObject().Key("code").Int(2).Key("message").Text(span.error).EndObject();
  json.EndObject();
}

Span RequestSpan(const AccessRecord& record, const Timeline& line, Clock::time_point now) {
  Span s;
  const bool continued = record.trace && !record.trace->trace_id.empty();
  s.trace_id = continued ? record.trace->trace_id : RandomHex(32);
  s.parent_id = continued ? record.trace->parent_id : "";
  s.span_id = RandomHex(16);
  s.server = true;
  s.name = record.model.empty() ? StrCat(record.method, " ", record.target) : StrCat("infer ", record.model);
  s.start_ns = line.At(now - record.duration);
  s.end_ns = line.At(now);
  s.error = record.error;
  const std::pair<const char*, std::string_view> texts[] = {
      {"rpc.system", record.protocol},   {"http.request.method", record.method},
      {"url.path", record.target},       {"model.name", record.model},
      {"model.version", record.version}, {"request.id", record.request_id}};
  for (const auto& [key, value] : texts)
    if (!value.empty()) s.texts.emplace_back(key, value);
  s.numbers = {{"response.status_code", record.status},
               {"request.size", static_cast<int64_t>(record.received)},
               {"response.size", static_cast<int64_t>(record.sent)}};
  return s;
}

}  // namespace

std::string RandomHex(int digits) {
  thread_local std::mt19937_64 random{std::random_device{}()};
  std::string text;
  while (static_cast<int>(text.size()) < digits) text += "0123456789abcdef"[random() & 15];
  if (text.find_first_not_of('0') == std::string::npos && !text.empty()) text.back() = '1';
  return text;
}

std::vector<Span> SpansOf(const AccessRecord& record, std::chrono::system_clock::time_point wall,
                          Clock::time_point now) {
  const Timeline line(wall, now);
  std::vector<Span> spans = {RequestSpan(record, line, now)};
  if (!record.times || record.times->queued == Clock::time_point{}) return spans;
  const CallTimes& t = *record.times;
  const auto add = [&](const char* name, Clock::time_point from, Clock::time_point to) {
    if (from == Clock::time_point{} || to < from) return;
    Span s;
    s.trace_id = spans[0].trace_id;
    s.parent_id = spans[0].span_id;
    s.span_id = RandomHex(16);
    s.name = name;
    s.start_ns = line.At(from);
    s.end_ns = line.At(to);
    spans.push_back(std::move(s));
  };
  add("queue", t.queued, t.started);
  const bool again = t.earlier.compute.count() > 0;  // the span includes the time between executions
  add("compute", again || t.input == Clock::time_point{} ? t.started : t.input, t.finished);
  return spans;
}

std::string OtlpJson(const std::vector<Span>& spans, std::string_view service, std::string_view version) {
  JsonWriter json;
  json.BeginObject().Key("resourceSpans").BeginArray().BeginObject();
  json.Key("resource").BeginObject().Key("attributes").BeginArray();
  Attribute(json, "service.name", "stringValue", service);
  Attribute(json, "service.version", "stringValue", version);
  json.EndArray().EndObject().Key("scopeSpans").BeginArray().BeginObject();
  json.Key("scope").BeginObject().Key("name").Text("tern").Key("version").Text(version).EndObject();
  json.Key("spans").BeginArray();
  for (const Span& span : spans) WriteSpan(span, json);
  return json.EndArray().EndObject().EndArray().EndObject().EndArray().EndObject().Take();
}

std::string TritonTraceJson(const AccessRecord& record, uint64_t id, Clock::time_point now) {
  JsonWriter json;
  int64_t version = 0;
  if (!ParseInt(record.version, version)) version = -1;
  json.BeginObject().Key("id").Unsigned(id).Key("model_name").Text(record.model);
  json.Key("model_version").Int(version).Key("request_id").Text(record.request_id).EndObject();
  json.BeginObject().Key("id").Unsigned(id).Key("timestamps").BeginArray();
  const auto stamp = [&](const char* name, Clock::time_point t) {
    if (t == Clock::time_point{}) return;
    json.BeginObject().Key("name").Text(name).Key("ns").Int(nanoseconds(t.time_since_epoch()).count());
    json.EndObject();
  };
  stamp("REQUEST_START", now - record.duration);
  if (record.times) {
    stamp("QUEUE_START", record.times->queued);
    stamp("COMPUTE_START", record.times->started);
    stamp("COMPUTE_INPUT_END", record.times->compute);
    stamp("COMPUTE_OUTPUT_START", record.times->output);
    stamp("COMPUTE_END", record.times->finished);
  }
  stamp("REQUEST_END", now);
  return json.EndArray().EndObject().Take();
}

}  // namespace tern::server
