#include "server/dialects/openai/completion_request.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

RequestFault Read(std::string_view body, CompletionRequest& request, bool chat = false) {
  return ReadCompletionRequest(body, chat, 100, request);
}

void Fails(std::string_view body, std::string_view parameter, std::string_view message, bool chat = false) {
  CompletionRequest request;
  const RequestFault fault = Read(body, request, chat);
  EXPECT_FALSE(fault.status.ok()) << body;
  EXPECT_EQ(fault.parameter, parameter) << body;
  EXPECT_NE(fault.status.message().find(message), std::string::npos) << fault.status.ToString();
}

TEST(CompletionRequest, ReadsAllMembers) {
  CompletionRequest r;
  const RequestFault fault = Read(
      R"({"model":"m","prompt":["a","b"],"max_tokens":7,"temperature":0.5,"top_p":0.9,"top_k":-1,"seed":-3,"n":2,"stop":["x","\n"],
          "stream":true,"stream_options":{"include_usage":true},"logprobs":3,"echo":true,"presence_penalty":1,"frequency_penalty":-2,
          "logit_bias":{"5":-100,"6":1.5},"user":"u","suffix":null,"best_of":1,"ignore_eos":true,"timeout":1.5})",
      r);
  ASSERT_TRUE(fault.status.ok()) << fault.status.ToString();
  EXPECT_EQ(r.model, "m");
  ASSERT_EQ(r.prompts.size(), 2U);
  EXPECT_EQ(r.prompts[1].text, "b");
  EXPECT_EQ(r.max_tokens, 7);
  EXPECT_EQ(r.top_k, 0);
  EXPECT_EQ(r.seed, -3);
  EXPECT_EQ(r.n, 2);
  EXPECT_EQ(r.stop, (std::vector<std::string>{"x", "\n"}));
  EXPECT_TRUE(r.stream && r.include_usage && r.echo && r.ignore_eos);
  EXPECT_EQ(r.logprobs, 3);
  EXPECT_EQ(r.bias, (std::vector<std::pair<int64_t, float>>{{5, -100.0F}, {6, 1.5F}}));
  EXPECT_EQ(r.timeout, 1.5);
}

TEST(CompletionRequest, ReadsTokens) {
  CompletionRequest one, two;
  ASSERT_TRUE(Read(R"({"model":"m","prompt":[1,2,3]})", one).status.ok());
  ASSERT_EQ(one.prompts.size(), 1U);
  EXPECT_EQ(one.prompts[0].tokens, (std::vector<int64_t>{1, 2, 3}));
  ASSERT_TRUE(Read(R"({"model":"m","prompt":[[1],[2,3]]})", two).status.ok());
  ASSERT_EQ(two.prompts.size(), 2U);
  EXPECT_TRUE(two.prompts[1].is_tokens);
}

TEST(CompletionRequest, JoinsTextPartsOfMessages) {
  CompletionRequest r;
  const RequestFault fault = Read(
      R"({"model":"m","logprobs":true,"top_logprobs":2,"max_completion_tokens":3,"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]})",
      r, true);
  ASSERT_TRUE(fault.status.ok()) << fault.status.ToString();
  EXPECT_EQ(r.messages.list()[0].Member("content").text(), "a\nb");
  EXPECT_EQ(r.logprobs, 2);
  EXPECT_EQ(r.max_tokens, 3);
}

TEST(CompletionRequest, RefusesWhatItCannotDo) {
  Fails(R"({"model":"m","prompt":"a","foo":1})", "foo", "Unrecognized request argument supplied: foo");
  Fails(R"({"model":"m","prompt":"a","best_of":3})", "best_of", "not supported");
  Fails(R"({"model":"m","prompt":"a","suffix":"x"})", "suffix", "not supported");
  Fails(R"({"model":"m","prompt":"a","n":0})", "n", "at least 1");
  Fails(R"({"model":"m","prompt":"a","temperature":3})", "temperature", "from 0 to 2");
  Fails(R"({"model":"m","prompt":"a","temperature":"1"})", "temperature", "a number");
  Fails(R"({"model":"m","prompt":"a","max_tokens":1.5})", "max_tokens", "an integer");
  Fails(R"({"model":"m","prompt":[]})", "prompt", "not empty");
  Fails(R"({"model":"m","prompt":[1,"a"]})", "prompt", "an integer");
  Fails(R"({"model":"m","prompt":["a",1]})", "prompt", "a string");
  Fails(R"({"model":"m"})", "prompt", "you must provide");
  Fails(R"({"prompt":"a"})", "model", "you must provide a model");
  Fails(R"({"model":"m","prompt":"a","stop":[""]})", "stop", "1 to 1024");
  Fails(R"({"model":"m","prompt":"a","max_tokens":0})", "max_tokens", "at least 1");
  Fails(R"([1])", "", "object");
  Fails(R"({"model":"m","messages":[{"role":"user","content":[{"type":"image_url"}]}]})", "messages",
        "image_url", true);
  Fails(R"({"model":"m","messages":[]})", "messages", "at least one", true);
  Fails(R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function"}]})", "tools",
        "not supported", true);
  Fails(
      R"({"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_object"}})",
      "response_format", "json_object", true);
  CompletionRequest r;
  EXPECT_TRUE(
      Read(
          R"({"model":"m","messages":[{"role":"user","content":"x"}],"tools":[],"tool_choice":"none","response_format":{"type":"text"}})",
          r, true)
          .status.ok());
}

TEST(CompletionRequest, LimitsItsMemory) {
  std::string many = R"({"model":"m","messages":[)";
  for (int i = 0; i < 300'000; ++i) many += "0,";
  Fails(many + "0]}", "messages", "too many values", true);
}

TEST(EmbeddingRequest, ReadsTextsAndTokens) {
  EmbeddingRequest r;
  ASSERT_TRUE(
      ReadEmbeddingRequest(R"({"model":"m","input":"a","encoding_format":"base64","user":"u"})", 100, r)
          .status.ok());
  EXPECT_TRUE(r.base64);
  EXPECT_EQ(r.inputs.at(0).text, "a");
  EmbeddingRequest bad;
  EXPECT_EQ(ReadEmbeddingRequest(R"({"model":"m","input":"a","dimensions":3})", 100, bad).parameter,
            "dimensions");
  EXPECT_EQ(ReadEmbeddingRequest(R"({"model":"m","encoding_format":"hex"})", 100, bad).parameter,
            "encoding_format");
}

}  // namespace
}  // namespace tern::server
