// Tests the gRPC messages of TensorFlow Serving against the generated classes.
#include "server/dialects/tfs/tensor_proto.h"

#include <gtest/gtest.h>

#include <cstring>

#include "server/dialects/tfs/grpc_request.h"
#include "server/dialects/tfs/grpc_response.h"
#include "tensorflow_serving.pb.h"

namespace tern::server::tfs {
namespace {

Buffer BufferOf(std::string bytes) {
  const auto owner = std::make_shared<std::string>(std::move(bytes));
  return Buffer::Borrow(owner->data(), owner->size(), owner);
}

tensorflow::TensorProto Proto(tensorflow::DataType dtype, const Dims& dims) {
  tensorflow::TensorProto proto;
  proto.set_dtype(dtype);
  for (const int64_t dim : dims) proto.mutable_tensor_shape()->add_dim()->set_size(dim);
  return proto;
}

struct Got {
  Status status;
  WireTensor tensor;
  uint64_t converted = 0;
  bool sliced = false;  // the tensor shares the memory of the message
};

Got Read(const tensorflow::TensorProto& proto, uint64_t limit = 1 << 20) {
  Got got;
  const Buffer message = BufferOf(proto.SerializeAsString());
  const std::string_view bytes(reinterpret_cast<const char*>(message.data()), message.size());
  got.tensor.name = "x";
  got.status = ReadTensorProto(message, bytes, limit, got.tensor, got.converted);
  const std::byte* const data = got.tensor.bytes.data();
  got.sliced = got.tensor.bytes.defined() && data >= message.data() && data < message.data() + message.size();
  return got;
}

template <class T> std::vector<T> Values(const Got& got) {
  EXPECT_TRUE(got.status.ok()) << got.status.ToString();
  std::vector<T> values(got.tensor.bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), got.tensor.bytes.data(), got.tensor.bytes.size());
  return values;
}

TEST(TensorProto, ReadsFloatsWithoutACopy) {
  tensorflow::TensorProto proto = Proto(tensorflow::DT_FLOAT, {2, 2});
  for (const float value : {1.f, 2.f, 3.f, 4.f}) proto.add_float_val(value);
  Got got = Read(proto);
  EXPECT_EQ(Values<float>(got), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(got.sliced);
  EXPECT_EQ(got.converted, 0u);
  const float content[] = {5, 6, 7, 8};
  proto.clear_float_val();
  proto.set_tensor_content(content, sizeof content);
  got = Read(proto);
  EXPECT_EQ(Values<float>(got), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_TRUE(got.sliced);
  proto.set_tensor_content(content, 12);
  EXPECT_NE(Read(proto).status.message().find("tensor_content has 12 bytes, the shape [2,2] needs 16"),
            std::string::npos);
}

TEST(TensorProto, RepeatsTheLastValue) {
  tensorflow::TensorProto proto = Proto(tensorflow::DT_INT32, {4});
  EXPECT_EQ(Values<int32_t>(Read(proto)), (std::vector<int32_t>{0, 0, 0, 0}));
  proto.add_int_val(-1);
  proto.add_int_val(7);
  EXPECT_EQ(Values<int32_t>(Read(proto)), (std::vector<int32_t>{-1, 7, 7, 7}));
  for (int i = 0; i < 3; ++i) proto.add_int_val(1);
  EXPECT_NE(Read(proto).status.message().find("more values than its 4 elements"), std::string::npos);
  tensorflow::TensorProto texts = Proto(tensorflow::DT_STRING, {3});
  texts.add_string_val("ab");
  EXPECT_EQ(Read(texts).tensor.bytes.size(), 3u * 6);
  tensorflow::TensorProto huge = Proto(tensorflow::DT_FLOAT, {int64_t{1} << 40});
  huge.add_float_val(1);
  EXPECT_NE(Read(huge).status.message().find("the limit is"), std::string::npos);
  huge = Proto(tensorflow::DT_STRING, {int64_t{1} << 40});
  EXPECT_NE(Read(huge).status.message().find("the limit is"), std::string::npos);
}

TEST(TensorProto, ReadsEachType) {
  tensorflow::TensorProto half = Proto(tensorflow::DT_BFLOAT16, {2});
  half.add_half_val(0x3F80);
  half.add_half_val(0x4000);
  EXPECT_EQ(Values<uint16_t>(Read(half)), (std::vector<uint16_t>{0x3F80, 0x4000}));
  tensorflow::TensorProto flags = Proto(tensorflow::DT_BOOL, {2});
  flags.add_bool_val(true);
  flags.add_bool_val(false);
  EXPECT_EQ(Values<uint8_t>(Read(flags)), (std::vector<uint8_t>{1, 0}));
  tensorflow::TensorProto wide = Proto(tensorflow::DT_UINT64, {1});
  wide.add_uint64_val(UINT64_MAX);
  EXPECT_EQ(Values<uint64_t>(Read(wide)), (std::vector<uint64_t>{UINT64_MAX}));
  tensorflow::TensorProto byte = Proto(tensorflow::DT_UINT8, {1});
  byte.add_int_val(256);
  EXPECT_NE(Read(byte).status.message().find("the value 256 does not fit into uint8"), std::string::npos);
  tensorflow::TensorProto content = Proto(tensorflow::DT_STRING, {2});
  content.set_tensor_content(std::string("\1\2abc"));  // lengths 1 and 2, then the bytes
  EXPECT_EQ(Read(content).tensor.bytes.size(), 2 * sizeof(uint32_t) + 3);
  content.set_tensor_content(std::string("\1\7abc"));
  EXPECT_NE(Read(content).status.message().find("ends inside a text"), std::string::npos);
  EXPECT_NE(Read(Proto(tensorflow::DT_COMPLEX64, {1})).status.message().find("DT_COMPLEX64"),
            std::string::npos);
  EXPECT_NE(Read(Proto(tensorflow::DT_FLOAT, {-1})).status.message().find("dim 0 is -1"), std::string::npos);
  tensorflow::TensorProto unranked = Proto(tensorflow::DT_FLOAT, {});
  unranked.mutable_tensor_shape()->set_unknown_rank(true);
  EXPECT_NE(Read(unranked).status.message().find("unknown_rank"), std::string::npos);
}

TEST(TensorProto, WritesWhatItReads) {
  const int32_t ints[] = {-1, 0, 300};
  const float floats[] = {1, 2, 3};
  std::vector<WireTensor> outputs{
      {"i", DType::kI32, {3}, BufferOf({reinterpret_cast<const char*>(ints), sizeof ints})},
      {"f", DType::kF32, {3, 1}, BufferOf({reinterpret_cast<const char*>(floats), sizeof floats})},
      {"t", DType::kString, {2}, BufferOf(std::string("\1\0\0\0a\0\0\0\0", 9))},
      {"e", DType::kF32, {0}, BufferOf("")}};
  auto encoded = EncodePrediction({"m", "123", "serving_default"}, outputs);
  ASSERT_TRUE(encoded.ok()) << encoded.status().ToString();
  std::string bytes;
  for (size_t i = 0; i < encoded->part_count(); ++i) bytes += encoded->Part(i);
  tensorflow::serving::PredictResponse response;
  ASSERT_TRUE(response.ParseFromString(bytes.substr(5)));
  EXPECT_EQ(response.model_spec().version().value(), 123);
  EXPECT_EQ(response.model_spec().signature_name(), "serving_default");
  ASSERT_EQ(response.outputs_size(), 4);
  EXPECT_EQ(response.outputs().at("i").int_val(0), -1);
  EXPECT_EQ(response.outputs().at("i").int_val(2), 300);
  EXPECT_EQ(response.outputs().at("f").float_val(2), 3);
  EXPECT_EQ(response.outputs().at("f").tensor_shape().dim(1).size(), 1);
  EXPECT_EQ(response.outputs().at("t").string_val(0), "a");
  EXPECT_EQ(response.outputs().at("e").tensor_shape().dim(0).size(), 0);
  outputs[1].dims = {4};
  EXPECT_FALSE(EncodePrediction({"m", "1", ""}, outputs).ok());
}

TEST(TfsGrpcRequest, ReadsTheModelAndTheTasks) {
  tensorflow::serving::MultiInferenceRequest message;
  InferParseOptions options;
  options.bytes = 3000;
  const auto read = [&](GrpcMethod method, const std::string& bytes, GrpcRequest& request,
                        InferMessage& out) {
    return ReadGrpcRequest(method, BufferOf(bytes), options, request, out);
  };
  GrpcRequest request;
  InferMessage out;
  EXPECT_EQ(read(GrpcMethod::kMultiInference, "", request, out).message(),
            "Inference request must have at least one task");
  auto* task = message.add_tasks();
  task->mutable_model_spec()->set_name("m");
  task->mutable_model_spec()->set_version_label("stable");
  task->set_method_name(kRegressMethod);
  auto& features =
      *message.mutable_input()->mutable_example_list_with_context()->add_examples()->mutable_features();
  (*features.mutable_feature())["x"].mutable_float_list()->add_value(2);
  (*message.mutable_input()
        ->mutable_example_list_with_context()
        ->mutable_context()
        ->mutable_features()
        ->mutable_feature())["c"]
      .mutable_bytes_list()
      ->add_value("shared");
  request = {};
  ASSERT_TRUE(read(GrpcMethod::kMultiInference, message.SerializeAsString(), request, out).ok());
  EXPECT_EQ(request.tasks[0].spec.label, "stable");
  EXPECT_EQ(request.examples.items[0].Find("x")->floats, (std::vector<float>{2}));
  EXPECT_EQ(request.examples.context.Find("c")->texts[0], "shared");
  task->set_method_name("tensorflow/serving/predict");
  request = {};
  EXPECT_EQ(read(GrpcMethod::kMultiInference, message.SerializeAsString(), request, out).code(),
            Code::kUnsupported);
  tensorflow::serving::PredictRequest predict;
  predict.mutable_model_spec()->mutable_version()->set_value(7);
  request = {};
  EXPECT_EQ(read(GrpcMethod::kPredict, predict.SerializeAsString(), request, out).message(),
            "Missing ModelSpec");
  predict.mutable_model_spec()->set_name("m");
  predict.add_output_filter("y");
  request = {};
  InferMessage predicted;
  ASSERT_TRUE(read(GrpcMethod::kPredict, predict.SerializeAsString(), request, predicted).ok());
  EXPECT_EQ(request.tasks[0].spec.version, "7");
  EXPECT_EQ(predicted.request.outputs[0].name, "y");
  EXPECT_EQ(PeekSpec(GrpcMethod::kPredict, BufferOf(predict.SerializeAsString())).model, "m");
  EXPECT_FALSE(read(GrpcMethod::kPredict, "\x0a\x05xx", request, predicted).ok());
  for (const char* name : {"a", "b"}) {  // each is within the limit, both together are not
    (*predict.mutable_inputs())[name] = Proto(tensorflow::DT_INT8, {2000});
  }
  request = {};
  EXPECT_NE(read(GrpcMethod::kPredict, predict.SerializeAsString(), request, predicted)
                .message()
                .find("the limit is"),
            std::string::npos);
}

}  // namespace
}  // namespace tern::server::tfs
