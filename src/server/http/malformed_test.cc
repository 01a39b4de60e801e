// Tests that malformed requests are refused with the right status, and that the server still answers the next
// request.
#include "server/http/test_server.h"

namespace tern::server {
namespace {

struct Case {
  std::string name, request;
  int status;
  std::string error = "";  // a substring of the error message
};

constexpr const char* kInput = R"("name":"IN0","shape":[1,2],"datatype":"FP32")";

class MalformedTest : public HttpTest {
 protected:
  void Check(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
      const TestReply reply = Send(c.request);
      EXPECT_EQ(reply.status, c.status) << c.name << ": " << reply.body;
      EXPECT_EQ(reply.body.rfind("{\"error\":\"", 0), 0u) << c.name << ": " << reply.body;
      EXPECT_NE(reply.body.find(c.error), reply.body.npos) << c.name << ": " << reply.body;
    }
    EXPECT_EQ(Infer(kSmall).body, kSmallReply);
  }
  static std::string Line(const std::string& line, const std::string& fields = "Host: x\r\n") {
    return line + "\r\n" + fields + "\r\n";
  }
  static std::string Input(const std::string& fields) { return "{\"inputs\":[{" + fields + "}]}"; }
  static std::string PostInfer(const std::string& body, const std::string& fields = "") {
    return Post("/v2/models/echo/infer", body, fields);
  }

  static std::string PostTyped(const char* type, const char* data) {
    return PostInfer(
        Input(std::string(R"("name":"IN0","shape":[1],"datatype":")") + type + R"(","data":)" + data));
  }
};

TEST_F(MalformedTest, Framing) {
  Start();
  const std::string post = "POST /v2/models/echo/infer HTTP/1.1";
  const std::string get = "GET /v2/health/live HTTP/1.1";
  Check({
      {"length and chunks",
       Line(post, "Host: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400},
      {"chunks and length",
       Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n") + "0\r\n\r\n", 400},
      {"two lengths", Line(post, "Host: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n") + "12345", 400},
      {"two equal lengths", Line(post, "Host: x\r\nContent-Length: 5\r\nContent-Length: 5\r\n") + "12345",
       400},
      {"list of lengths", Line(post, "Host: x\r\nContent-Length: 5, 5\r\n") + "12345", 400},
      {"negative length", Line(post, "Host: x\r\nContent-Length: -1\r\n"), 400},
      {"length with sign", Line(post, "Host: x\r\nContent-Length: +5\r\n") + "12345", 400},
      {"hexadecimal length", Line(post, "Host: x\r\nContent-Length: 0x5\r\n") + "12345", 400},
      {"length beyond 64 bits", Line(post, "Host: x\r\nContent-Length: 99999999999999999999\r\n"), 400},
      {"empty length", Line(post, "Host: x\r\nContent-Length:\r\n"), 400},
      {"huge length", Line(post, "Host: x\r\nContent-Length: 999999999999999999\r\n"), 413},
      {"unknown transfer encoding", Line(post, "Host: x\r\nTransfer-Encoding: gzip\r\n"), 501},
      {"identity transfer encoding", Line(post, "Host: x\r\nTransfer-Encoding: identity\r\n"), 501},
      {"hidden chunked", Line(post, "Host: x\r\nTransfer-Encoding: xchunked\r\n"), 501},
      {"chunked twice", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       400},
      {"list of encodings", Line(post, "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n"), 501},
      {"chunks in 1.0", Line("POST /v2 HTTP/1.0", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", 400},
      {"folded field", Line(get, "Host: x\r\nA: 1\r\n b\r\n"), 400},
      {"folded with a tab", Line(get, "Host: x\r\nA: 1\r\n\tb\r\n"), 400},
      {"bare LF", "GET /v2/health/live HTTP/1.1\nHost: x\n\n", 400},
      {"bare LF in a field", Line(get, "Host: x\r\nA: 1\nB: 2\r\n"), 400},
      {"bare CR in a field", Line(get, "Host: x\r\nA: 1\rB: 2\r\n"), 400},
      {"bare CR in the line", "GET /v2\r/x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
      {"NUL in a field", Line(get, std::string("Host: x\r\nA: 1\0b\r\n", 17)), 400},
      {"blank before the colon", Line(get, "Host: x\r\nA : 1\r\n"), 400},
      {"no colon", Line(get, "Host: x\r\nABC\r\n"), 400},
      {"empty name", Line(get, "Host: x\r\n: 1\r\n"), 400},
      {"bad name", Line(get, "Host: x\r\nA(b): 1\r\n"), 400},
      {"no host", Line(get, ""), 400},
      {"two hosts", Line(get, "Host: x\r\nHost: y\r\n"), 400},
      {"long field", Line(get, "Host: x\r\nA: " + std::string(20000, 'a') + "\r\n"), 431},
      {"long target", Line("GET /" + std::string(20000, 'a') + " HTTP/1.1"), 431},
      {"head without end", "GET /v2 HTTP/1.1\r\nA: " + std::string(40000, 'a'), 431},
      {"too many fields",
       [&] {
         std::string fields = "Host: x\r\n";
         for (int i = 0; i < 150; ++i) fields += "A: 1\r\n";
         return Line(get, fields);
       }(),
       431},
      {"unknown version", Line("GET /v2 HTTP/2.0"), 505},
      {"version 0.9", "GET /v2\r\n\r\n", 400},
      {"no version", Line("GET /v2 HTTX/1.1"), 505},
      {"no target", Line("GET  HTTP/1.1"), 400},
      {"two blanks", Line("GET  /v2  HTTP/1.1"), 400},
      {"garbage", "\x16\x03\x01\x02\x01\r\n\r\n", 400},
      {"unknown expectation", Line(get, "Host: x\r\nExpect: tea\r\n"), 417},
      {"chunk size not hexadecimal", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\n") + "xyz\r\n",
       400},
      {"negative chunk", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\n") + "-1\r\n", 400},
      {"huge chunk", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\n") + "ffffffffffffffffff\r\n", 400},
      {"chunk with a bare LF", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\n") + "1\nx\n0\n\n", 400},
      {"chunk too long", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\n") + "1\r\nxy\r\n0\r\n\r\n",
       400},
      {"empty chunk size", Line(post, "Host: x\r\nTransfer-Encoding: chunked\r\n") + "\r\n", 400},
      {"header length twice",
       Line(get, "Host: x\r\nInference-Header-Content-Length: 1\r\nInference-Header-Content-Length: 1\r\n"),
       400},
      {"header length no number", Line(get, "Host: x\r\nInference-Header-Content-Length: -1\r\n"), 400},
  });
}

TEST_F(MalformedTest, Routes) {
  Start();
  Check({
      {"root", Get("/"), 404,
       "Not Found; GET /v2/health/ready tells whether the server takes requests, POST"},
      {"models", Get("/v2/models"), 404,
       "Not Found; POST /v2/repository/index lists the models, GET /v2/models/NAME describes a model, POST "
       "/v2/models/NAME/infer runs it"},
      {"no repository", Get("/v2/repository"), 404, "POST /v2/repository/models/NAME/load loads a model"},
      {"no verb", Get("/v1/models/echo:run"), 404, "POST /v1/models/NAME:predict runs it"},
      {"no version", Get("/v3"), 404},
      {"unknown", Get("/v2/nothing"), 404},
      {"health", Get("/v2/health"), 404},
      {"long health", Get("/v2/health/live/x"), 404},
      {"no model", Get("/v2/models/"), 404},
      {"unknown action", Get("/v2/models/echo/dance"), 404},
      {"action and more", Get("/v2/models/echo/ready/x"), 404},
      {"trace of a version", Get("/v2/models/echo/versions/1/trace/setting"), 404},
      {"star", "GET * HTTP/1.1\r\nHost: x\r\n\r\n", 404},
      {"bad escape", Get("/v2/models/%zz/ready"), 400},
      {"cut escape", Get("/v2/models/echo%2"), 400},
      {"wrong verb of infer", Get("/v2/models/echo/infer"), 405,
       "Method Not Allowed; the method of this path is POST"},
      {"wrong verb of health", Post("/v2/health/live", ""), 405},
      {"delete", "DELETE /v2/models/echo HTTP/1.1\r\nHost: x\r\n\r\n", 405},
      {"odd verb", "BREW /v2 HTTP/1.1\r\nHost: x\r\n\r\n", 405},
      {"metrics off", Get("/metrics"), 404, "metrics are on the metrics port"},
      {"unknown model", Post("/v2/models/none/infer", kSmall), 404,
       "Request for unknown model: 'none' is not found"},
      {"model with NUL", Post("/v2/models/%00/infer", kSmall), 404},
      {"no repository action", Post("/v2/repository/models/m/dance", ""), 404},
      {"memory action", Post("/v2/systemsharedmemory/dance", ""), 404},
  });
}

TEST_F(MalformedTest, InferRequests) {
  Start();
  std::string deep = R"({"inputs":[{"name":"IN0","shape":[1],"datatype":"FP32","data":)";
  deep += std::string(100'000, '[');
  Check({
      {"empty", PostInfer(""), 400},
      {"no JSON", PostInfer("hello"), 400,
       "failed to parse the request JSON buffer: the body does not begin with '{'"},
      {"a file without a pipeline", PostInfer("\xff\xd8\xff", "Content-Type: image/jpeg\r\n"), 400,
       "model 'echo' has no pipeline.yaml"},
      {"a form", PostInfer("--x\r\n\r\n--x--", "Content-Type: multipart/form-data; boundary=x\r\n"), 400,
       "curl --data-binary @FILE"},
      {"array", PostInfer("[]"), 400},
      {"number", PostInfer("5"), 400},
      {"open object", PostInfer("{"), 400},
      {"open string", PostInfer("{\"inputs"), 400},
      {"two documents", PostInfer("{\"inputs\":[]}{}"), 400},
      {"trailing comma", PostInfer("{\"inputs\":[],}"), 400},
      {"single quotes", PostInfer("{'inputs':[]}"), 400},
      {"bad escape", PostInfer("{\"\\x\":1,\"inputs\":[]}"), 400},
      {"lone surrogate", PostInfer("{\"id\":\"\\ud800\",\"inputs\":[]}"), 400},
      {"control character", PostInfer("{\"id\":\"\x01\",\"inputs\":[]}"), 400},
      {"deep", PostInfer(deep), 400, "JSON nesting depth exceeds maximum allowed limit (100)"},
      {"no inputs", PostInfer("{}"), 400, "Unable to parse 'inputs'"},
      {"inputs no array", PostInfer("{\"inputs\":{}}"), 400, "Unable to parse 'inputs'"},
      {"inputs twice", PostInfer("{\"inputs\":[],\"inputs\":[]}"), 400},
      {"input no object", PostInfer("{\"inputs\":[1]}"), 400},
      {"id no string", PostInfer("{\"id\":5,\"inputs\":[]}"), 400, "Unable to parse 'id'"},
      {"no name", PostInfer(Input(R"("shape":[1],"datatype":"FP32","data":[1])")), 400,
       "Unable to parse 'name'"},
      {"no shape", PostInfer(Input(R"("name":"IN0","datatype":"FP32","data":[1])")), 400,
       "Unable to parse 'shape'"},
      {"no type", PostInfer(Input(R"("name":"IN0","shape":[1],"data":[1])")), 400,
       "Unable to parse 'datatype'"},
      {"unknown type", PostTyped("FP99", "[1]"), 400},
      {"negative dim", PostInfer(Input(R"("name":"IN0","shape":[-1],"datatype":"FP32","data":[1])")), 400},
      {"dim no integer", PostInfer(Input(R"("name":"IN0","shape":[1.0],"datatype":"FP32","data":[1])")), 400},
      {"dim of 2^63",
       PostInfer(Input(R"("name":"IN0","shape":[9223372036854775808],"datatype":"FP32","data":[1])")), 400},
      {"dim of 2^63-1",
       PostInfer(Input(R"("name":"IN0","shape":[9223372036854775807],"datatype":"FP32","data":[1])")), 400},
      {"overflowing shape",
       PostInfer(Input(R"("name":"IN0","shape":[2147483648,2147483648,8],"datatype":"FP32","data":[1])")),
       400},
      {"shape whose product overflows to 0",
       PostInfer(Input(
           R"("name":"IN0","shape":[4294967296,4294967296],"datatype":"FP64","parameters":{"binary_data_size":0})")),
       400},
      {"many dims",
       PostInfer(Input(
           R"("name":"IN0","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"datatype":"FP32","data":[1])")),
       400},
      {"too few elements", PostInfer(Input(std::string(kInput) + R"(,"data":[1])")), 400,
       "shape does not match true shape; the shape [1,2] of input 'IN0' has 2 elements, 'data' has 1"},
      {"too many elements", PostInfer(Input(std::string(kInput) + R"(,"data":[1,2,3])")), 400,
       "shape does not match true shape; the shape [1,2] of input 'IN0' has 2 elements, 'data' has more"},
      {"data no array", PostInfer(Input(std::string(kInput) + R"(,"data":1)")), 400,
       "Unable to parse 'data'"},
      {"data before shape", PostInfer(Input(R"("data":[1],"name":"IN0","shape":[2],"datatype":"FP32")")),
       400},
      {"shape twice",
       PostInfer(Input(R"("name":"IN0","shape":[1],"datatype":"FP32","data":[1],"shape":[1000000])")), 400},
      {"data twice", PostInfer(Input(R"("name":"IN0","shape":[1],"datatype":"FP32","data":[1],"data":[1])")),
       400},
      {"no data", PostInfer(Input(kInput)), 400, "But no field is set"},
      {"data and binary",
       PostInfer(Input(std::string(kInput) + R"(,"data":[1,2],"parameters":{"binary_data_size":8})")), 400,
       "But set 'data' 'binary_data_size'"},
      {"input twice",
       PostInfer(
           R"({"inputs":[{"name":"A","shape":[0],"datatype":"FP32","data":[]},{"name":"A","shape":[0],"datatype":"FP32","data":[]}]})"),
       400, "already exists"},
  });
}

TEST_F(MalformedTest, InferData) {
  Start();
  const std::string binary = Input(std::string(kInput) + R"(,"parameters":{"binary_data_size":8})");
  Check({
      {"fraction for an integer", PostTyped("INT32", "[1.0]"), 400},
      {"exponent for an integer", PostTyped("INT32", "[1e2]"), 400},
      {"int8 too large", PostTyped("INT8", "[128]"), 400, "does not fit into INT8"},
      {"int8 too small", PostTyped("INT8", "[-129]"), 400},
      {"negative unsigned", PostTyped("UINT8", "[-1]"), 400},
      {"uint64 too large", PostTyped("UINT64", "[18446744073709551616]"), 400},
      {"int64 too small", PostTyped("INT64", "[-9223372036854775809]"), 400},
      {"bool of 2", PostTyped("BOOL", "[2]"), 400},
      {"bool of text", PostTyped("BOOL", "[\"true\"]"), 400},
      {"float of text", PostTyped("FP32", "[\"1\"]"), 400},
      {"float of null", PostTyped("FP32", "[null]"), 400},
      {"float too large", PostTyped("FP32", "[1e39]"), 400},
      {"half too large", PostTyped("FP16", "[70000]"), 400},
      {"number of bytes", PostTyped("BYTES", "[1]"), 400},
      {"leading zero", PostTyped("INT32", "[01]"), 400},
      {"plus", PostTyped("INT32", "[+1]"), 400},
      {"cut number", PostTyped("FP32", "[1.]"), 400},
      {"cut exponent", PostTyped("FP32", "[1e]"), 400},
      {"binary missing", PostInfer(binary, Header(binary)), 400, "expecting 8 additional bytes"},
      {"binary too long", PostInfer(binary + "123456789", Header(binary)), 400,
       "unexpected additional input data for model"},
      {"header too long", PostInfer(binary, "Inference-Header-Content-Length: 99999\r\n"), 400,
       "inference header size should be in range"},
      {"binary size no number",
       PostInfer(Input(std::string(kInput) + R"(,"parameters":{"binary_data_size":"8"})")), 400},
      {"binary size of 2^64-1",
       PostInfer(Input(std::string(kInput) + R"(,"parameters":{"binary_data_size":18446744073709551615})")),
       400},
      {"shared memory off",
       PostInfer(Input(std::string(kInput) +
                       R"(,"parameters":{"shared_memory_region":"r","shared_memory_byte_size":8})")),
       503},
      {"parameters no object", PostInfer(R"({"inputs":[],"parameters":[]})"), 400},
      {"reserved parameter", PostInfer(R"({"inputs":[],"parameters":{"triton_x":1}})"), 400,
       "reserved for Triton usage"},
      {"parameter of an object", PostInfer(R"({"inputs":[],"parameters":{"x":{}}})"), 400},
      {"parameter twice", PostInfer(R"({"inputs":[],"parameters":{"x":1,"x":2}})"), 400},
      {"priority of text", PostInfer(R"({"inputs":[],"parameters":{"priority":"1"}})"), 400,
       "Unable to parse 'priority'"},
      {"negative timeout", PostInfer(R"({"inputs":[],"parameters":{"timeout":-1}})"), 400},
      {"sequence of null", PostInfer(R"({"inputs":[],"parameters":{"sequence_id":null}})"), 400},
      {"output twice", PostInfer(R"({"inputs":[],"outputs":[{"name":"A"},{"name":"A"}]})"), 400,
       "output 'A' already exists in request"},
      {"output no name", PostInfer(R"({"inputs":[],"outputs":[{}]})"), 400},
      {"outputs no array", PostInfer(R"({"inputs":[],"outputs":{}})"), 400},
      {"classification of text",
       PostInfer(R"({"inputs":[],"outputs":[{"name":"A","parameters":{"classification":"1"}}]})"), 400},
  });
}

TEST_F(MalformedTest, TooManyTensors) {
  context.limits.tensors = 3;
  Start();
  std::string inputs, outputs;
  for (int i = 0; i < 4; ++i) {
    const std::string comma = i ? "," : "";
    inputs += comma + R"({"name":"IN)" + std::to_string(i) + R"(","shape":[0],"datatype":"FP32","data":[]})";
    outputs += comma + R"({"name":"O)" + std::to_string(i) + "\"}";
  }
  Check(
      {{"inputs", Post("/v2/models/echo/infer", "{\"inputs\":[" + inputs + "]}"), 400, "more than 3 inputs"},
       {"outputs", Post("/v2/models/echo/infer", "{\"inputs\":[],\"outputs\":[" + outputs + "]}"), 400,
        "more than 3 outputs"}});
}

// After a refused head, the server must not parse the following bytes as a request.
TEST_F(MalformedTest, NoSmuggling) {
  Start();
  const int before = echo->submitted;
  TestClient client(server->port());
  client.Send(
      "POST /v2/models/echo/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
      Post("/v2/models/echo/infer", kSmall));
  const std::string all = client.ReadAll();
  EXPECT_EQ(all.rfind("HTTP/1.1 400 ", 0), 0u);
  EXPECT_EQ(all.find("HTTP/1.1", 1), all.npos);
  EXPECT_EQ(echo->submitted, before);
}

// The connection survives a malformed body, and a body that the route does not read. The next request is
// answered.
TEST_F(MalformedTest, BadBodiesKeepTheConnection) {
  Start();
  TestClient client(server->port());
  client.Send(Post("/v2/models/echo/infer", "nonsense") + Post("/v2/nowhere", "GET /v2 HTTP/1.1\r\n\r\n") +
              Post("/v2/models/echo/infer", kSmall));
  std::string text;
  EXPECT_EQ(ReadReply(client, text).status, 400);
  EXPECT_EQ(ReadReply(client, text).status, 404);
  EXPECT_EQ(ReadReply(client, text).body, kSmallReply);
}

}  // namespace
}  // namespace tern::server
