// Tests requests that run in several parts, and models with several signatures.
#include "server/dialects/tfs/split.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "server/dialects/tfs/model_spec.h"
#include "server/signatures/signature_model.h"

namespace tern::server::tfs {
namespace {

WireTensor Numbers(const std::string& name, int64_t count) {
  const auto owner = std::make_shared<std::vector<int32_t>>();
  for (int64_t i = 0; i < count; ++i) owner->push_back(static_cast<int32_t>(i));
  return {name, DType::kI32, {count}, Buffer::Borrow(owner->data(), owner->size() * sizeof(int32_t), owner)};
}

class Whole : public Call {
 public:
  std::vector<Response> responses;

 protected:
  void OnResponse(Response response) override { responses.push_back(std::move(response)); }
};

ModelConfig Config(int max_batch_size) {
  ModelConfig config;
  config.name = "m";
  config.max_batch_size = max_batch_size;
  config.inputs.emplace_back().name = "x";
  config.outputs.emplace_back().name = "y";
  return config;
}

// Holds calls until a test answers them.
class HeldModel : public ModelVersion {
 public:
  explicit HeldModel(ModelConfig config) : ModelVersion(std::move(config), "1") {}
  void Submit(std::shared_ptr<Call> call) override {
    call->OnCancel([this, weak = std::weak_ptr<Call>(call)] {
      ++cancelled;
      Response response;
      response.status = Status(Code::kCancelled, "cancelled");
      if (const auto held = weak.lock()) held->Respond(std::move(response));
    });
    calls.push_back(std::move(call));
  }
  void Answer(size_t i, Status status = {}) {
    Response response;
    response.status = std::move(status);
    if (response.status.ok()) {
      response.outputs = calls[i]->request.inputs;
      for (WireTensor& output : response.outputs) output.name = "y";
    }
    calls[i]->Respond(std::move(response));
  }
  size_t MemoryBytes() const override { return 10; }
  size_t Pending() const override { return calls.size(); }
  std::vector<std::shared_ptr<Call>> calls;
  int cancelled = 0;
};

struct Cut {
  std::shared_ptr<HeldModel> model = std::make_shared<HeldModel>(Config(4));
  std::shared_ptr<Whole> whole = std::make_shared<Whole>();
  explicit Cut(int64_t items) {
    Request request;
    request.inputs.push_back(Numbers("x", items));
    auto requests = CutRequest(request, ItemsPerPart(model->config(), request));
    EXPECT_TRUE(requests.ok());
    std::vector<Part> parts;
    for (Request& part : *requests) parts.push_back({model, std::move(part)});
    SubmitParts(whole, std::move(parts), ConcatenateOutputs);
  }
};

TEST(Split, JoinsThePartsInTheirOrder) {
  Cut cut(10);
  ASSERT_EQ(cut.model->calls.size(), 3u);
  EXPECT_EQ(cut.model->calls[2]->request.inputs[0].dims, (Dims{2}));
  for (const size_t i : {2, 0, 1}) {
    EXPECT_TRUE(cut.whole->responses.empty());
    cut.model->Answer(i);
  }
  ASSERT_EQ(cut.whole->responses.size(), 1u);
  const WireTensor& output = cut.whole->responses[0].outputs.at(0);
  EXPECT_EQ(output.dims, (Dims{10}));
  EXPECT_EQ(std::memcmp(output.bytes.data(), Numbers("y", 10).bytes.data(), 40), 0);
}

TEST(Split, CancelsTheOthersWhenOneFails) {
  Cut cut(12);
  cut.model->Answer(1, InvalidArgument("bad item"));
  EXPECT_EQ(cut.model->cancelled, 2);
  ASSERT_EQ(cut.whole->responses.size(), 1u);
  EXPECT_EQ(cut.whole->responses[0].status.message(), "bad item");
}

TEST(Split, IsCancelledAsAWhole) {
  Cut cut(8);
  cut.whole->Cancel();
  EXPECT_EQ(cut.model->cancelled, 2);
  ASSERT_EQ(cut.whole->responses.size(), 1u);
  EXPECT_EQ(cut.whole->responses[0].status.code(), Code::kCancelled);
}

TEST(Split, FreesItsCalls) {
  std::weak_ptr<Call> part;
  std::weak_ptr<Call> whole;
  {
    Cut cut(8);
    part = cut.model->calls[0];
    whole = cut.whole;
    cut.model->Answer(0);
    cut.model->Answer(1);
    cut.model->calls.clear();
  }
  EXPECT_TRUE(part.expired());
  EXPECT_TRUE(whole.expired());
}

TEST(Split, RefusesOutputsThatDiffer) {
  Response a, b;
  a.outputs.push_back(Numbers("y", 2));
  b.outputs.push_back(Numbers("y", 4));
  b.outputs[0].dims = {2, 2};
  std::vector<Response> both;
  both.push_back(std::move(a));
  both.push_back(std::move(b));
  EXPECT_NE(ConcatenateOutputs(std::move(both)).status.message().find("different shapes"), std::string::npos);
}

TEST(Split, CutsTextsAndRefusesDamagedOnes) {
  const auto owner = std::make_shared<std::string>("\1\0\0\0a\2\0\0\0bc", 11);
  Request request;
  request.inputs.push_back({"x", DType::kString, {2}, Buffer::Borrow(owner->data(), owner->size(), owner)});
  auto cut = CutRequest(request, 1);
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ((*cut)[0].inputs[0].bytes.size(), 5u);
  EXPECT_EQ((*cut)[1].inputs[0].bytes.size(), 6u);
  request.inputs[0].dims = {3};
  EXPECT_FALSE(CutRequest(request, 1).ok());
  request.inputs[0] = Numbers("x", 5000);
  EXPECT_NE(CutRequest(request, 1).status().message().find("5000 executions of 1; a request may have 1024"),
            std::string::npos);
  request.inputs[0].bytes = request.inputs[0].bytes.Slice(0, 8);
  EXPECT_FALSE(CutRequest(request, 4000).ok());
}

TEST(Split, RunsItemsOfAFixedBatchOneByOne) {
  ModelConfig fixed = Config(0);
  Request request;
  request.inputs.push_back(Numbers("x", 3));
  EXPECT_EQ(ItemsPerPart(fixed, request), 0);
  fixed.inputs[0].dims = fixed.outputs[0].dims = {1};
  EXPECT_EQ(ItemsPerPart(fixed, request), 1);
  fixed.outputs[0].dims = {2};
  EXPECT_EQ(ItemsPerPart(fixed, request), 0);
  EXPECT_EQ(ItemsPerPart(Config(2), request), 2);
  EXPECT_EQ(ItemsPerPart(Config(4), request), 0);
}

TEST(SignatureModel, SubmitsToTheSignatureOfTheRequest) {
  const auto standard = std::make_shared<HeldModel>(Config(4)),
             other = std::make_shared<HeldModel>(Config(4));
  Signature a{"other", "", {}, {}, other, {}}, b{"serving_default", "", {}, {}, standard, {}};
  Signature broken{"broken", "", {}, {}, nullptr, Unsupported("cannot be loaded")};
  const auto model = SignatureModel::Create(standard, {broken, a, b});
  const auto call = std::make_shared<Whole>(), unknown = std::make_shared<Whole>(),
             refused = std::make_shared<Whole>();
  model->Submit(std::make_shared<Whole>());
  call->request.signature = "other";
  model->Submit(call);
  EXPECT_EQ(standard->calls.size(), 1u);
  EXPECT_EQ(other->calls.size(), 1u);
  EXPECT_EQ(model->MemoryBytes(), 20u);
  EXPECT_EQ(model->Pending(), 2u);
  unknown->request.signature = "none";
  model->Submit(unknown);
  ASSERT_EQ(unknown->responses.size(), 1u);
  EXPECT_NE(unknown->responses[0].status.message().find("has no signature 'none'"), std::string::npos);
  refused->request.signature = "broken";
  model->Submit(refused);
  EXPECT_EQ(refused->responses.at(0).status.code(), Code::kUnsupported);
  EXPECT_EQ(model->statistics().Snapshot().fail.count, 2u);
  EXPECT_EQ(ChooseSignature(*model, "")->name, "serving_default");
  EXPECT_EQ(ChooseSignature(*model, "broken").status().code(), Code::kUnsupported);
  EXPECT_FALSE(ChooseSignature(*model, "none").ok());
  EXPECT_EQ(ChooseSignature(*standard, "serving_default")->key, "");
  EXPECT_FALSE(ChooseSignature(*standard, "predict").ok());
  for (const auto& held : {standard, other}) held->Answer(0);
}

}  // namespace
}  // namespace tern::server::tfs
