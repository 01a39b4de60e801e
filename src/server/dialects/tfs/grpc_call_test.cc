// Tests TensorFlow Serving's gRPC services through real sockets.
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
