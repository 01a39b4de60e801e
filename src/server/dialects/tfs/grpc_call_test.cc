// Tests TensorFlow Serving's gRPC services through real sockets.
#include "server/dialects/tfs/grpc_request.h"
#include "server/grpc/test_support.h"
#include "tensorflow_serving.pb.h"

namespace tern::server::tfs {
namespace {

using tensorflow::serving::PredictRequest;
using tensorflow::serving::PredictResponse;

constexpr const char* kPredict = "/tensorflow.serving.PredictionService/";
constexpr const char* kManage = "/tensorflow.serving.ModelService/";

PredictRequest RequestFor(const std::string& model, int items = 1, float first = 1) {
  PredictRequest request;
  request.mutable_model_spec()->set_name(model);
  tensorflow::TensorProto& tensor = (*request.mutable_inputs())["INPUT0"];
  tensor.set_dtype(tensorflow::DT_FLOAT);
  for (const int dim : {items, 4}) tensor.mutable_tensor_shape()->add_dim()->set_size(dim);
  for (int i = 0; i < items * 4; ++i) tensor.add_float_val(first + static_cast<float>(i));
  return request;
}

class TfsGrpcTest : public GrpcServerTest {
 protected:
  TestStream Call(const std::string& path, const std::string& message, const Headers& headers = {}) {
    Http2Client client(server->port());
    return client.Finish(client.Open(path, Frame(message), true, headers));
  }
  TestStream Predict(const PredictRequest& request, const Headers& headers = {}) {
    return Call(StrCat(kPredict, "Predict"), request.SerializeAsString(), headers);
  }
};

TEST_F(TfsGrpcTest, Predicts) {
  for (const char* model : {"echo", "thread"}) {
    const TestStream stream = Predict(RequestFor(model, 2));
    ASSERT_EQ(stream.status(), 0) << stream.message();
    const auto response = stream.Parse<PredictResponse>();
    EXPECT_EQ(response.model_spec().name(), model);
    EXPECT_EQ(response.model_spec().version().value(), 1);
    EXPECT_EQ(response.model_spec().signature_name(), "serving_default");
    const tensorflow::TensorProto& output = response.outputs().at("OUTPUT0");
    EXPECT_EQ(output.tensor_shape().dim(0).size(), 2);
    EXPECT_EQ(output.float_val(7), 8);
  }
  EXPECT_TRUE(Eventually([&] {
    const std::lock_guard lock(mutex);
    return records.size() == 2 && records[0].model == "echo" && records[0].has_times;
  }));
}

TEST_F(TfsGrpcTest, RunsLargeRequestsInParts) {
  const TestStream stream = Predict(RequestFor("thread", 100));  // the model takes 8 items
  ASSERT_EQ(stream.status(), 0) << stream.message();
  const auto response = stream.Parse<PredictResponse>();
  const tensorflow::TensorProto& output = response.outputs().at("OUTPUT0");
  ASSERT_EQ(output.float_val_size(), 400);
  for (int i = 0; i < 400; ++i) ASSERT_EQ(output.float_val(i), 1 + static_cast<float>(i));
  // A message of more than 256 KiB is read on another thread.
  const TestStream large = Predict(RequestFor("echo", 8000));
  ASSERT_EQ(large.status(), 0) << large.message();
  EXPECT_EQ(large.Parse<PredictResponse>().outputs().at("OUTPUT0").float_val(31999), 32000);
  models["echo"]->last = {};
  models["thread"]->last = {};
  EXPECT_TRUE(Eventually([&] { return context.queued_bytes == 0; }));
}

PredictRequest OneValueFor(const std::string& model, int64_t items) {
  PredictRequest request = RequestFor(model);
  tensorflow::TensorProto& tensor = (*request.mutable_inputs())["INPUT0"];
  tensor.mutable_tensor_shape()->mutable_dim(0)->set_size(items);
  tensor.clear_float_val();
  tensor.add_float_val(7);
  return request;
}

// A list of one value may fill a tensor of any size.
TEST_F(TfsGrpcTest, ShortMessagesMayNotClaimMuchMemory) {
  context.limits.body_bytes = 4 << 20;
  const TestStream stream = Predict(OneValueFor("echo", (4 << 20) / 16 + 1));
  EXPECT_EQ(stream.status(), 3);
  EXPECT_NE(stream.message().find("the limit is 4194304"), std::string::npos) << stream.message();
}

TEST_F(TfsGrpcTest, ShortMessagesThatStandForMoreLeaveTheLoop) {
  PredictRequest request = OneValueFor("echo", 8);
  ASSERT_EQ(Predict(request).status(), 0);
  const std::thread::id loop = models["echo"]->submit_thread;
  // A text that would fill a tensor of texts, although the tensor has numbers.
  (*request.mutable_inputs())["INPUT0"].add_string_val(std::string(40'000, 'x'));
  const TestStream stream = Predict(request);
  ASSERT_EQ(stream.status(), 0) << stream.message();
  EXPECT_NE(models["echo"]->submit_thread, loop);
  EXPECT_EQ(stream.Parse<PredictResponse>().outputs().at("OUTPUT0").float_val(31), 7);
}

bool Stands(GrpcMethod method, std::string bytes) {
  return StandsForMore(method, Buffer::Borrow(bytes.data(), bytes.size(), std::make_shared<int>(0)), 1 << 20);
}

bool Stands(GrpcMethod method, const google::protobuf::Message& message) {
  return Stands(method, message.SerializeAsString());
}

TEST(TfsGrpcRequest, ShortMessagesStandForMore) {
  EXPECT_FALSE(Stands(GrpcMethod::kPredict, OneValueFor("m", 10'000)));
  EXPECT_TRUE(Stands(GrpcMethod::kPredict, OneValueFor("m", 100'000)));
  EXPECT_TRUE(Stands(GrpcMethod::kPredict, OneValueFor("m", INT64_MAX / 4)));
  tensorflow::TensorProto shape;
  shape.mutable_tensor_shape()->add_dim()->set_size(1'000'000);
  std::string late = shape.SerializeAsString();  // behind the values
  late = "\x2d\x01\x02\x03\x04" + late;
  late = "\x12" + std::string(1, static_cast<char>(late.size())) + late;
  late = "\x12" + std::string(1, static_cast<char>(late.size())) + late;
  EXPECT_TRUE(StandsForMore(GrpcMethod::kPredict,
                            Buffer::Borrow(late.data(), late.size(), std::make_shared<int>(0)), 1 << 20));
  PredictRequest texts = OneValueFor("m", 100);
  (*texts.mutable_inputs())["INPUT0"].add_string_val(std::string(10'000, 'x'));
  EXPECT_TRUE(Stands(GrpcMethod::kPredict, texts));
  tensorflow::serving::ClassificationRequest classify;
  auto& list = *classify.mutable_input()->mutable_example_list_with_context();
  auto& values = *(*list.mutable_context()->mutable_features()->mutable_feature())["x"].mutable_float_list();
  for (int i = 0; i < 4000; ++i) values.add_value(1);
  list.add_examples();
  EXPECT_FALSE(Stands(GrpcMethod::kClassify, classify));
  tensorflow::serving::MultiInferenceRequest tasks;
  *tasks.mutable_input() = classify.input();
  for (int i = 0; i < 30; ++i) tasks.add_tasks();
  EXPECT_FALSE(Stands(GrpcMethod::kMultiInference, tasks));
  for (int i = 0; i < 30; ++i) tasks.add_tasks();
  EXPECT_TRUE(Stands(GrpcMethod::kMultiInference, tasks));
  for (int i = 0; i < 100; ++i) list.add_examples();
  EXPECT_TRUE(Stands(GrpcMethod::kClassify, classify));
  // The parts of a request may have any order, and a field may occur several times.
  tensorflow::serving::MultiInferenceRequest input;
  *input.mutable_input() = classify.input();
  tasks.clear_input();
  EXPECT_TRUE(Stands(GrpcMethod::kMultiInference, input.SerializeAsString() + tasks.SerializeAsString()));
  tensorflow::serving::ClassificationRequest context = classify;
  context.mutable_input()->mutable_example_list_with_context()->clear_examples();
  list.clear_context();
  EXPECT_FALSE(Stands(GrpcMethod::kClassify, classify));
  EXPECT_TRUE(Stands(GrpcMethod::kClassify, classify.SerializeAsString() + context.SerializeAsString()));
}

TEST_F(TfsGrpcTest, RefusesInWordsOfTensorFlowServing) {
  EXPECT_EQ(Predict(RequestFor("none")).status(), 5);
  EXPECT_EQ(Predict(RequestFor("none")).message(), "Servable not found for request: Latest(none)");
  PredictRequest request = RequestFor("echo");
  request.mutable_model_spec()->mutable_version()->set_value(9);
  EXPECT_EQ(Predict(request).message(), "Servable not found for request: Specific(echo, 9)");
  request = RequestFor("echo");
  request.mutable_model_spec()->set_signature_name("s");
  EXPECT_EQ(Predict(request).status(), 3);
  request = RequestFor("echo");
  request.add_output_filter("Z");
  EXPECT_EQ(Predict(request).message(),
            "output tensor alias not found in signature: Z Outputs expected to be in the set {OUTPUT0}.");
  request = RequestFor("echo");
  (*request.mutable_inputs())["z"].set_dtype(tensorflow::DT_FLOAT);
  EXPECT_EQ(Predict(request).message(),
            "input tensor alias not found in signature: z. Inputs expected to be in the set {INPUT0}.");
  EXPECT_EQ(Predict(RequestFor("repeat")).status(), 12) << "decoupled";
  EXPECT_EQ(Predict(RequestFor("fail")).status(), 14);
  EXPECT_EQ(Call(StrCat(kPredict, "Predict"), "\xff\xff").status(), 3);
  EXPECT_EQ(Call(StrCat(kPredict, "SessionRun"), "").status(), 12);
  EXPECT_EQ(Call(StrCat(kManage, "HandleReloadConfigRequest"), "").status(), 12);
}

TEST_F(TfsGrpcTest, CancelsAllPartsOfACall) {
  Http2Client client(server->port());
  const int32_t id =
      client.Open(StrCat(kPredict, "Predict"), Frame(RequestFor("hold", 20).SerializeAsString()), true);
  ASSERT_TRUE(Eventually([&] { return models["hold"]->Held().size() == 3; }));
  client.Reset(id);
  EXPECT_TRUE(Eventually([&] {
    const auto held = models["hold"]->Held();
    return std::all_of(held.begin(), held.end(), [](const auto& call) { return call->finished(); });
  }));
  const int32_t late = client.Open(StrCat(kPredict, "Predict"), Frame(RequestFor("hold").SerializeAsString()),
                                   true, {{"grpc-timeout", "50m"}});
  EXPECT_EQ(client.Finish(late).status(), 4);
}

TEST_F(TfsGrpcTest, MapsFeaturesToInputs) {
  tensorflow::serving::ClassificationRequest request;
  request.mutable_model_spec()->set_name("echo");
  auto& features = *request.mutable_input()->mutable_example_list()->add_examples()->mutable_features();
  for (const float value : {1.f, 2.f, 3.f, 4.f})
    (*features.mutable_feature())["INPUT0"].mutable_float_list()->add_value(value);
  const TestStream stream = Call(StrCat(kPredict, "Classify"), request.SerializeAsString());
  ASSERT_EQ(stream.status(), 0) << stream.message();
  const auto response = stream.Parse<tensorflow::serving::ClassificationResponse>();
  EXPECT_EQ(response.result().classifications(0).classes(3).score(), 4);
  const TestStream regressed = Call(StrCat(kPredict, "Regress"), request.SerializeAsString());
  EXPECT_EQ(regressed.status(), 3) << "four values per item are no regression";
}

TEST_F(TfsGrpcTest, DescribesModels) {
  tensorflow::serving::GetModelStatusRequest status;
  status.mutable_model_spec()->set_name("echo");
  const auto states = Call(StrCat(kManage, "GetModelStatus"), status.SerializeAsString())
                          .Parse<tensorflow::serving::GetModelStatusResponse>();
  ASSERT_EQ(states.model_version_status_size(), 1);
  EXPECT_EQ(states.model_version_status(0).state(), tensorflow::serving::ModelVersionStatus::AVAILABLE);
  status.mutable_model_spec()->mutable_version()->set_value(4);
  EXPECT_EQ(Call(StrCat(kManage, "GetModelStatus"), status.SerializeAsString()).status(), 5);
  tensorflow::serving::GetModelMetadataRequest metadata;
  metadata.mutable_model_spec()->set_name("echo");
  EXPECT_EQ(Call(StrCat(kPredict, "GetModelMetadata"), metadata.SerializeAsString()).status(), 3);
  metadata.add_metadata_field("signature_def");
  const auto described = Call(StrCat(kPredict, "GetModelMetadata"), metadata.SerializeAsString())
                             .Parse<tensorflow::serving::GetModelMetadataResponse>();
  tensorflow::serving::SignatureDefMap map;
  ASSERT_TRUE(described.metadata().at("signature_def").UnpackTo(&map));
  EXPECT_EQ(map.signature_def().at("serving_default").inputs().at("INPUT0").tensor_shape().dim(1).size(), 4);
}

TEST_F(TfsGrpcTest, NeedsTheHeaderOfRestrictedOperations) {
  GrpcOptions options;
  ASSERT_TRUE(options.restrictions.Add("inference:key=value", "triton-grpc-protocol-", "protocol").ok());
  StartServer(options);
  EXPECT_EQ(Predict(RequestFor("echo")).status(), 14);
  EXPECT_EQ(Predict(RequestFor("echo"), {{"triton-grpc-protocol-key", "value"}}).status(), 0);
}

}  // namespace
}  // namespace tern::server::tfs
