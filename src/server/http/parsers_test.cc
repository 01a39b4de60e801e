// Tests the parsers and writers that the front end uses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "server/core/compression.h"
#include "server/http/base64.h"
#include "server/http/chunks.h"
#include "server/http/json_reader.h"
#include "server/http/json_tensor.h"
#include "server/http/json_writer.h"
#include "server/http/request_head.h"
#include "server/http/route.h"
#include "server/http/trace_context.h"

namespace tern::server {
namespace {

std::string ReadString(std::string_view text) {
  JsonReader json(text, 10);
  std::string value;
  return json.String(value).ok() && json.End().ok() ? value : "error";
}

TEST(JsonReader, Strings) {
  EXPECT_EQ(ReadString(R"("abc")"), "abc");
  EXPECT_EQ(ReadString(R"( "" )"), "");
  EXPECT_EQ(ReadString(R"("a\"\\\/\b\f\n\r\tz")"), "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(ReadString(R"("\u0041\u00e9\u20ac\ud83d\ude00")"), "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(ReadString(R"("\u0000")"), std::string(1, '\0'));
  for (const char* bad : {"\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"",
                          "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"a\nb\"", "abc", "", "\"a\" b"})
    EXPECT_EQ(ReadString(bad), "error") << bad;
}

Status SkipAll(std::string_view text, int depth = 10) {
  JsonReader json(text, depth);
  TERN_TRY(json.Skip());
  return json.End();
}

TEST(JsonReader, SkipChecksTheGrammar) {
  for (const char* good : {"{}", "[]", " [ 1 , 2 ] ", R"({"a":{"b":[null,true,false,"x",-0,0.5,1e-3,1E+3]}})",
                           "NaN", "-Infinity", "5"})
    EXPECT_TRUE(SkipAll(good).ok()) << good;
  for (const char* bad :
       {"",           "{",     "[",   "[1",  "[1,",   "[,]", "[1,]",     "{\"a\"}", "{\"a\":}",
        "{\"a\":1,}", "{a:1}", "tru", "nul", "[1 2]", "01",  "-",        "1.",      ".5",
        "1e",         "+1",    "[]]", "--1", "1.e5",  "Nan", "{\"a\" 1}"})
    EXPECT_FALSE(SkipAll(bad).ok()) << bad;
  EXPECT_TRUE(SkipAll("[[[]]]", 3).ok());
  EXPECT_EQ(SkipAll("[[[[]]]]", 3).message(), "JSON nesting depth exceeds maximum allowed limit (3)");
  EXPECT_FALSE(SkipAll(std::string(1'000'000, '['), 100).ok());
  std::string siblings = "[";
  for (int i = 0; i < 1000; ++i) siblings += "[[]],";
  EXPECT_TRUE(SkipAll(siblings + "[]]", 3).ok());
}

JsonNumber NumberOf(std::string_view text) {
  JsonReader json(text, 1);
  JsonNumber number;
  EXPECT_TRUE(json.Number(number).ok()) << text;
  return number;
}

TEST(JsonReader, Numbers) {
  int64_t i = 0;
  uint64_t u = 0;
  double d = 0;
  float f = 0;
  EXPECT_TRUE(ToInt64(NumberOf("-9223372036854775808"), i).ok());
  EXPECT_EQ(i, INT64_MIN);
  EXPECT_TRUE(ToUint64(NumberOf("18446744073709551615"), u).ok());
  EXPECT_EQ(u, UINT64_MAX);
  EXPECT_FALSE(ToInt64(NumberOf("9223372036854775808"), i).ok());
  EXPECT_FALSE(ToInt64(NumberOf("-9223372036854775809"), i).ok());
  EXPECT_FALSE(ToUint64(NumberOf("18446744073709551616"), u).ok());
  EXPECT_FALSE(ToUint64(NumberOf("-1"), u).ok());
  EXPECT_FALSE(ToInt64(NumberOf("1.0"), i).ok());
  EXPECT_FALSE(ToInt64(NumberOf("NaN"), i).ok());
  EXPECT_TRUE(ToDouble(NumberOf("-0"), d).ok() && std::signbit(d));
  EXPECT_TRUE(ToDouble(NumberOf("1e-400"), d).ok() && d == 0);
  EXPECT_TRUE(ToDouble(NumberOf("5e-324"), d).ok() && d == std::numeric_limits<double>::denorm_min());
  EXPECT_FALSE(ToDouble(NumberOf("1e400"), d).ok());
  EXPECT_TRUE(ToDouble(NumberOf("NaN"), d).ok() && std::isnan(d));
  EXPECT_TRUE(ToFloat(NumberOf("-Infinity"), f).ok() && std::isinf(f) && f < 0);
  EXPECT_TRUE(ToFloat(NumberOf("1e-60"), f).ok() && f == 0);
  EXPECT_FALSE(ToFloat(NumberOf("3.5e38"), f).ok());
  // The text is rounded once, directly to float. Rounding to double first would give another value.
  EXPECT_TRUE(ToFloat(NumberOf("1.00000017881393432617187499"), f).ok());
  EXPECT_EQ(f, 1.00000011920928955078125f);
}

Status ReadTensor(DType dtype, Dims dims, std::string_view text, WireTensor& tensor) {
  tensor = {"x", dtype, std::move(dims), {}};
  JsonReader json(text, 10);
  TERN_TRY(ReadJsonTensor(json, tensor));
  return json.End();
}

std::string Elements(const WireTensor& tensor) {
  std::string out;
  const Status status = AppendJsonElements(out, tensor);
  return status.ok() ? out : status.message();
}

TEST(JsonTensor, RefusesBytesThatAreNotUtf8) {
  WireTensor tensor{"x", DType::kString, {1}, Buffer::Allocate(5)};
  std::memcpy(tensor.bytes.data(), "\1\0\0\0\xFF", 5);
  std::string out;
  EXPECT_EQ(AppendJsonElements(out, tensor, BadText::kRefuse).code(), Code::kInvalidArgument);
  EXPECT_EQ(Elements(tensor), "\"\\ufffd\"");
}

TEST(JsonTensor, RoundTrips) {
  const std::vector<std::tuple<DType, const char*, const char*>> cases = {
      {DType::kBool, "[true,false,1,0]", "true,false,true,false"},
      {DType::kU8, "[0,255,1,2]", "0,255,1,2"},
      {DType::kI8, "[-128,127,0,1]", "-128,127,0,1"},
      {DType::kU16, "[65535,0,0,0]", "65535,0,0,0"},
      {DType::kI16, "[-32768,32767,0,0]", "-32768,32767,0,0"},
      {DType::kU32, "[4294967295,0,0,0]", "4294967295,0,0,0"},
      {DType::kI32, "[[-2147483648,2147483647],[0,-0]]", "-2147483648,2147483647,0,0"},
      {DType::kU64, "[18446744073709551615,0,0,0]", "18446744073709551615,0,0,0"},
      {DType::kI64, "[-9223372036854775808,9223372036854775807,0,0]",
       "-9223372036854775808,9223372036854775807,0,0"},
      {DType::kF16, "[0.1,65504,-1,NaN]", "0.099975586,65504.0,-1.0,NaN"},
      {DType::kBF16, "[0.5,1e4,-1,Infinity]", "0.5,9984.0,-1.0,Infinity"},
      {DType::kF32, "[0.1,1e30,-0,-Infinity]", "0.1,1e+30,-0.0,-Infinity"},
      {DType::kF64, "[[[0.1]],[[1e300]],[[3]],[[NaN]]]", "0.1,1e+300,3.0,NaN"},
      {DType::kString, R"(["a","","\u00e9","\""])", "\"a\",\"\",\"\xC3\xA9\",\"\\\"\""},
  };
  for (const auto& [dtype, text, expected] : cases) {
    WireTensor tensor;
    const Status status = ReadTensor(dtype, {2, 2}, text, tensor);
    EXPECT_TRUE(status.ok()) << text << ": " << status.message();
    EXPECT_EQ(Elements(tensor), expected);
  }
}

TEST(JsonTensor, EmptyAndWrongSizes) {
  WireTensor tensor;
  EXPECT_TRUE(ReadTensor(DType::kF32, {0}, "[]", tensor).ok());
  EXPECT_TRUE(tensor.bytes.defined());
  EXPECT_EQ(Elements(tensor), "");
  EXPECT_TRUE(ReadTensor(DType::kString, {3, 0}, "[[],[],[]]", tensor).ok());
  EXPECT_TRUE(ReadTensor(DType::kF32, {}, "[5]", tensor).ok());
  EXPECT_FALSE(ReadTensor(DType::kF32, {}, "[]", tensor).ok());
  EXPECT_FALSE(ReadTensor(DType::kF32, {1'000'000'000'000}, "[1]", tensor).ok());
  EXPECT_FALSE(ReadTensor(DType::kF32, {INT64_MAX, 2}, "[1]", tensor).ok());
  EXPECT_FALSE(ReadTensor(DType::kF32, {-1}, "[1]", tensor).ok());
  EXPECT_FALSE(ReadTensor(DType::kC64, {1}, "[1]", tensor).ok());
  EXPECT_TRUE(ElementCount("x", {INT64_MAX, 0, INT64_MAX}).ok());
}

TEST(JsonWriter, BytesThatDoNotFitAreErrors) {
  WireTensor tensor{"x", DType::kF32, {2}, Buffer::Allocate(7)};
  EXPECT_NE(Elements(tensor).find("does not match size"), std::string::npos);
  tensor = {"x", DType::kString, {2}, Buffer::Allocate(4)};
  EXPECT_NE(Elements(tensor).find("does not match size"), std::string::npos);
  std::memset(tensor.bytes.data(), 0xFF, 4);
  EXPECT_NE(Elements(tensor).find("does not match size"), std::string::npos);
}

TEST(JsonWriter, StringsAreValid) {
  std::string out;
  AppendJson(
      out, std::string_view("a\0\x1f\"\\\n\x7f\xC3\xA9\xFF\xC0\x80\xED\xA0\x80\xF0\x9F\x98\x80\xE2\x82", 21));
  EXPECT_EQ(
      out,
      "\"a\\u0000\\u001f\\\"\\\\\\n\\u007f\xC3\xA9\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\xF0\x9F\x98\x80\\ufffd\\ufffd\"");
  JsonReader json(out, 1);
  EXPECT_TRUE(json.Skip().ok());
}

TEST(Chunks, EveryCut) {
  const std::string text = "3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n00\r\nTrailer: x\r\n\r\nrest";
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    ChunkDecoder decoder(100);
    std::string body;
    size_t a = 0, b = 0;
    ASSERT_TRUE(decoder.Feed(std::string_view(text).substr(0, cut), body, a).ok());
    ASSERT_TRUE(decoder.Feed(std::string_view(text).substr(a), body, b).ok());
    EXPECT_TRUE(decoder.done());
    EXPECT_EQ(body, "abc0123456789");
    EXPECT_EQ(a + b, text.size() - 4);
  }
}

TEST(Chunks, LimitIsExact) {
  std::string body;
  size_t used = 0;
  EXPECT_TRUE(ChunkDecoder(3).Feed("3\r\nabc\r\n0\r\n\r\n", body, used).ok());
  body.clear();
  EXPECT_EQ(ChunkDecoder(2).Feed("3\r\nabc\r\n0\r\n\r\n", body, used).code(), Code::kResourceExhausted);
  EXPECT_EQ(ChunkDecoder(2).Feed("1;" + std::string(100'000, 'x'), body, used).code(),
            Code::kInvalidArgument);
}

TEST(Chunks, NumberIsLimited) {
  std::string text, body;
  for (int i = 0; i < 65536; ++i) text += "1\r\nA\r\n";
  size_t used = 0;
  EXPECT_TRUE(ChunkDecoder(1 << 20).Feed(text + "0\r\n\r\n", body, used).ok());
  EXPECT_EQ(body.size(), 65536u);
  body.clear();
  EXPECT_EQ(
      ChunkDecoder(1 << 20).Feed(text + "1\r\nA\r\n0\r\n\r\n", body, used).message(),
      "Chunked request body exceeds maximum of 65536 non-empty chunks. Send fewer or larger HTTP chunks.");
}

TEST(Compression, RoundTripsAndLimits) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    const std::string packed = *Compress(
        encoding, {std::string_view(text).substr(0, 1000), "", std::string_view(text).substr(1000)});
    auto plain = Decompress(packed, text.size());
    ASSERT_TRUE(plain.ok());
    EXPECT_TRUE(std::string_view(reinterpret_cast<const char*>(plain->data()), plain->size()) == text);
    EXPECT_EQ(Decompress(packed, text.size() - 1).status().code(), Code::kResourceExhausted);
    EXPECT_EQ(Decompress(packed.substr(0, packed.size() - 1), text.size()).status().code(),
              Code::kInvalidArgument);
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(~damaged[packed.size() / 2]);
    EXPECT_EQ(Decompress(damaged, text.size()).status().code(), Code::kInvalidArgument);
  }
  EXPECT_FALSE(Decompress("", 10).ok());
}

TEST(RequestHead, Fields) {
  RequestHead head;
  const HeadError error = ParseHead(
      "POST /a%20b?c HTTP/1.1\r\nhost: x\r\nCONTENT-LENGTH: 12\r\nAccept-Encoding: identity;q=0.5 , deflate;q=0.3\r\n"
      "content-encoding: GZIP\r\nInference-Header-Content-Length:7\r\nExpect: 100-Continue\r\ntraceparent: abc\r\n\r\n",
      head);
  EXPECT_EQ(error.status, 0) << error.message;
  EXPECT_EQ(head.target, "/a%20b?c");
  EXPECT_EQ(head.content_length, 12u);
  EXPECT_EQ(head.accept, Encoding::kDeflate);
  EXPECT_EQ(head.encoding, Encoding::kGzip);
  EXPECT_EQ(head.infer_header, 7u);
  EXPECT_TRUE(head.expect_continue && head.keep_alive && head.http11);
  EXPECT_EQ(head.traceparent, "abc");
}

TEST(RequestHead, TypesOfBodies) {
  const auto type = [](const std::string& field) {
    RequestHead head;
    EXPECT_EQ(ParseHead("POST / HTTP/1.1\r\nhost: x\r\n" + field + "\r\n", head).status, 0) << field;
    return head.body_type;
  };
  EXPECT_EQ(type(""), BodyType::kUnstated);
  EXPECT_EQ(type("Content-Type: application/x-www-form-urlencoded\r\n"), BodyType::kUnstated);
  EXPECT_EQ(type("Content-Type: Multipart/form-data; boundary=x\r\n"), BodyType::kForm);
  for (const char* item :
       {"image/png", "IMAGE/Jpeg ; q=1", "audio/wav", "text/plain;charset=UTF-8", "application/octet-stream"})
    EXPECT_EQ(type(StrCat("content-type: ", item, "\r\n")), BodyType::kItem) << item;
  for (const char* other : {"application/json", "text/html", "image/", "multipart/mixed"})
    EXPECT_EQ(type(StrCat("Content-Type: ", other, "\r\n")), BodyType::kOther) << other;
}

TEST(RequestHead, ScanResumes) {
  const std::string text = "GET / HTTP/1.1\r\nA: b\r\n\r\nbody";
  size_t line = 0;
  for (size_t size = 0; size < 24; ++size)
    EXPECT_EQ(ScanHead(std::string_view(text).substr(0, size), line).outcome, HeadScan::Outcome::kMore)
        << size;
  const HeadScan scan = ScanHead(text, line);
  EXPECT_EQ(scan.outcome, HeadScan::Outcome::kComplete);
  EXPECT_EQ(scan.size, 24u);
}

TEST(Route, Paths) {
  const Route infer = ParseRoute("/v2/models/a%2Fb/versions/v%201/infer?x");
  EXPECT_EQ(infer.kind, RouteKind::kInfer);
  EXPECT_EQ(infer.model, "a/b");
  EXPECT_EQ(infer.version, "v 1");
  EXPECT_EQ(ParseRoute("http://h:1/v2/health/live").kind, RouteKind::kLive);
  EXPECT_EQ(ParseRoute("/x/v2", "/x").kind, RouteKind::kServerMetadata);
  EXPECT_EQ(ParseRoute("/v2/models/stats").kind, RouteKind::kModelStats);
  EXPECT_EQ(ParseRoute("/v2/models/stats/infer").model, "stats");
  EXPECT_EQ(ParseRoute("/v2/repository/index").kind, RouteKind::kIndex);
  EXPECT_EQ(ParseRoute("/v2/repository/r/index").repository, "r");
  EXPECT_EQ(ParseRoute("/v2/systemsharedmemory/region/r/register").region, "r");
  for (const char* path :
       {"", "/", "v2", "/v2/", "//v2", "/v2/models/m/", "/v2/models//infer", "/v2/models/m/versions/",
        "/v2/models/m/versions//infer", "/v2/trace", "/v2/repository", "/v2/repository/models/m"})
    EXPECT_EQ(ParseRoute(path).kind, RouteKind::kNotFound) << path;
}

TEST(Base64, Decodes) {
  std::string out;
  EXPECT_TRUE(DecodeBase64("", out) && out.empty());
  EXPECT_TRUE(DecodeBase64("QQ==", out) && out == "A");
  EXPECT_TRUE(DecodeBase64("QUI", out) && out == "AB");
  EXPECT_TRUE(DecodeBase64("QU\r\nJD", out) && out == "ABC");
  EXPECT_TRUE(DecodeBase64("/+8=", out) && out == "\xff\xef");
  for (const char* bad : {"Q", "Q===", "QQ=A", "QQ=", "Q Q=", "QUJD=", "\xff\xff"})
    EXPECT_FALSE(DecodeBase64(bad, out)) << bad;
}

TEST(TraceParent, OnlyValidOnes) {
  const auto id = [](std::string_view text) {
    TraceContext trace;
    ParseTraceParent(text, trace);
    return trace.trace_id;
  };
  const std::string good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
  EXPECT_EQ(id(good), good.substr(3, 32));
  EXPECT_EQ(id("01" + good.substr(2) + "-x"), good.substr(3, 32));
  for (const std::string& bad :
       {std::string(), good.substr(1), good + "-", "ff" + good.substr(2),
        "00-" + std::string(32, '0') + good.substr(35), "00-" + std::string(32, 'G') + good.substr(35)})
    EXPECT_EQ(id(bad), "") << bad;
}

}  // namespace
}  // namespace tern::server
