#include "server/grpc/infer_response.h"

#include <gtest/gtest.h>

#include <cstring>

#include "inference.pb.h"
#include "server/grpc/out_buffer.h"

namespace tern::server {
namespace {

std::string Join(const OutMessage& message) {
  std::string out;
  for (size_t i = 0; i < message.part_count(); ++i) out += message.Part(i);
  return out;
}

// Checks the prefix of a message, and returns the message without it.
std::string Payload(const OutMessage& message) {
  const std::string all = Join(message);
  EXPECT_EQ(all.size(), message.size());
  EXPECT_EQ(all[0], 0);
  size_t size = 0;
  for (size_t i = 1; i < 5; ++i) size = size << 8 | static_cast<uint8_t>(all[i]);
  EXPECT_EQ(size, all.size() - 5);
  return all.substr(5);
}

Response TwoOutputs(const Buffer& large) {
  Response response;
  response.parameters = {{"b", true}, {"i", int64_t{-7}}, {"d", 0.25}, {"s", std::string("t")}};
  response.outputs.push_back({"small", DType::kI32, {2}, Buffer::Allocate(8)});
  response.outputs.push_back({"large", DType::kU8, {static_cast<int64_t>(large.size())}, large});
  response.outputs.push_back({"shared", DType::kF32, {}, {}});
  return response;
}

TEST(GrpcInferResponse, ReadsBack) {
  const Buffer large = Buffer::Allocate(100'000);
  memset(large.data(), 7, large.size());
  const auto message = EncodeInferResponse({"m", "1", "id"}, TwoOutputs(large));
  ASSERT_TRUE(message.ok());
  ASSERT_EQ(message->tensors.size(), 1u);
  EXPECT_EQ(message->tensors[0].bytes.data(), large.data());  // not copied
  inference::ModelInferResponse response;
  ASSERT_TRUE(response.ParseFromString(Payload(*message)));
  EXPECT_EQ(response.model_name(), "m");
  EXPECT_EQ(response.model_version(), "1");
  EXPECT_EQ(response.id(), "id");
  EXPECT_TRUE(response.parameters().at("b").bool_param());
  EXPECT_EQ(response.parameters().at("i").int64_param(), -7);
  EXPECT_EQ(response.parameters().at("d").double_param(), 0.25);
  EXPECT_EQ(response.parameters().at("s").string_param(), "t");
  ASSERT_EQ(response.outputs_size(), 3);
  ASSERT_EQ(response.raw_output_contents_size(), 3);
  EXPECT_EQ(response.raw_output_contents(0), std::string(8, '\0'));
  EXPECT_EQ(response.raw_output_contents(1), std::string(100'000, 7));
  EXPECT_EQ(response.raw_output_contents(2), "");
  EXPECT_EQ(response.outputs(1).shape(0), 100'000);
  EXPECT_EQ(response.outputs(2).shape_size(), 0);
  EXPECT_EQ(response.outputs(0).datatype(), "INT32");
}

TEST(GrpcInferResponse, StreamForm) {
  Response response = TwoOutputs(Buffer::Allocate(5000));
  response.final = false;
  inference::ModelStreamInferResponse read;
  ASSERT_TRUE(read.ParseFromString(Payload(*EncodeStreamResponse({"m", "1", ""}, response))));
  EXPECT_EQ(read.error_message(), "");
  EXPECT_FALSE(read.infer_response().parameters().at("triton_final_response").bool_param());
  EXPECT_EQ(read.infer_response().raw_output_contents(1).size(), 5000u);
  response.status = Status(Code::kInvalidArgument, "wrong");
  response.final = true;
  ASSERT_TRUE(read.ParseFromString(Payload(*EncodeStreamResponse({"m", "1", "7"}, response))));
  EXPECT_EQ(read.error_message(), "wrong");
  EXPECT_EQ(read.infer_response().id(), "7");
  EXPECT_EQ(read.infer_response().outputs_size(), 0);
  EXPECT_TRUE(read.infer_response().parameters().at("triton_final_response").bool_param());
}

TEST(GrpcInferResponse, RefusesMoreThanClientsRead) {
  char byte = 0;
  Response response;
  response.outputs.push_back(
      {"x", DType::kU8, {int64_t{1} << 31}, Buffer::Borrow(&byte, size_t{1} << 31, nullptr)});
  EXPECT_EQ(EncodeInferResponse({"m", "1", ""}, response).status().code(), Code::kResourceExhausted);
  EXPECT_EQ(EncodeStreamResponse({"m", "1", ""}, response).status().code(), Code::kResourceExhausted);
}

TEST(GrpcOutBuffer, KeepsTheOrderOverPartialWrites) {
  OutBuffer out;
  const Buffer tensor = Buffer::Allocate(10);
  memset(tensor.data(), 't', 10);
  std::string expected, got;
  for (int round = 0; round < 20; ++round) {
    out.Append("ab", 2);
    out.Append("cd", 2);
    out.AppendReference(tensor.data(), 10, tensor);
    expected += "abcd" + std::string(10, 't');
    iovec parts[3];
    const int count = out.Parts(parts, 3);
    size_t take = static_cast<size_t>(round % 5);
    EXPECT_EQ(out.size(), expected.size() - got.size());
    for (int i = 0; i < count && take > 0; ++i) {
      const size_t part = std::min(take, parts[i].iov_len);
      got.append(static_cast<const char*>(parts[i].iov_base), part);
      out.Consume(part);
      take -= part;
      i = count;  // leaves the loop, because the parts are invalid after Consume
    }
  }
  while (!out.empty()) {
    iovec part;
    ASSERT_EQ(out.Parts(&part, 1), 1);
    got.append(static_cast<const char*>(part.iov_base), part.iov_len);
    out.Consume(part.iov_len);
  }
  EXPECT_EQ(got, expected);
  EXPECT_EQ(out.size(), 0u);
}

}  // namespace
}  // namespace tern::server
