// Payloads come back as they were sent, and wrong ones are refused.
#include "server/isolation/messages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "server/backend/test_support.h"
#include "server/isolation/arena.h"
#include "server/isolation/channel.h"
#include "server/isolation/codec.h"

namespace tern::server {
namespace {

TensorConfig ConfigTensor(const std::string& name, Dims dims) {
  TensorConfig out = Tensor4(name, DType::kF32, std::move(dims));
  return out;
}

LoadedMessage SomeDescription() {
  LoadedMessage out;
  out.inputs = {ConfigTensor("x", {-1, 3}), ConfigTensor("s", {1})};
  out.inputs[1].reshape = Dims();
  out.inputs[1].optional = true;
  out.outputs = {ConfigTensor("y", {4})};
  out.max_batch_size = 8;
  out.batching = out.keeps_sequences = true;
  out.memory = 123;
  return out;
}

RanMessage SomeResult() {
  RanMessage out;
  out.outputs.push_back({{"y", DType::kF32, {2, 3}, {}}, 64, 24});
  out.outputs.push_back({{"t", DType::kString, {2}, {}}, 128, 9});
  out.again.push_back({3, true});
  out.cpu_ns = 17;
  return out;
}

TEST(IsolationMessages, Description) {
  LoadedMessage back;
  ASSERT_TRUE(Parse(Encode(Status(), SomeDescription()), back).ok());
  ASSERT_EQ(back.inputs.size(), 2u);
  EXPECT_EQ(back.inputs[0].dims, (Dims{-1, 3}));
  EXPECT_TRUE(back.inputs[1].optional && back.inputs[1].reshape && back.inputs[1].reshape->empty());
  EXPECT_TRUE(back.batching && back.keeps_sequences && !back.decoupled && !back.parallel);
  EXPECT_EQ(back.memory, 123u);
  EXPECT_EQ(Parse(Encode(NotFound("no file"), LoadedMessage()), back).message(), "no file");
}

TEST(IsolationMessages, TheConfigurationIsThatOfTheModel) {
  ModelConfig config;
  config.backend = "b";
  config.proto = "proto";
  config.inputs = {ConfigTensor("x", {-1, 3})};
  config.outputs = {ConfigTensor("y", {})};
  config.max_batch_size = 4;
  config.parameters = {{"a", "1"}, {"b", ""}};
  StartMessage start = StartOf({"/folder", "/folder/file"}, config), back;
  start.sandbox = true;
  start.limits.memory_bytes = 7;
  start.server = 42;
  const std::string payload = Encode(start);
  ASSERT_TRUE(Parse(payload, back).ok());
  EXPECT_EQ(back.config, "proto");
  EXPECT_EQ(back.files.file, "/folder/file");
  EXPECT_EQ(back.inputs[0].dims, (Dims{-1, 3}));
  EXPECT_EQ(back.parameters, config.parameters);
  EXPECT_EQ(back.limits.memory_bytes, 7u);
  EXPECT_TRUE(back.sandbox && !back.batch_tensors);
  for (size_t size = 0; size < payload.size(); ++size) {
    StartMessage part;
    EXPECT_FALSE(Parse(std::string_view(payload).substr(0, size), part).ok());
  }
}

TEST(IsolationMessages, ResultAndItsErrors) {
  RanMessage back;
  bool broken = true;
  ASSERT_TRUE(Parse(Encode(Status(), SomeResult()), back, broken).ok());
  EXPECT_FALSE(broken);
  EXPECT_EQ(back.outputs[1].tensor.dtype, DType::kString);
  EXPECT_EQ(back.again[0].row, 3u);
  EXPECT_EQ(Parse(Encode(Unsupported("no"), RanMessage()), back, broken).code(), Code::kUnsupported);
  EXPECT_FALSE(broken);
}

TEST(IsolationMessages, RequestsComeBack) {
  Request request;
  request.id = "id";
  request.inputs = {Wire<float>("x", DType::kF32, {2}, {1, 2})};
  request.outputs = {{.name = "y"}};
  request.parameters = {{"a", true}, {"b", int64_t{-1}}, {"c", 0.5}, {"d", std::string("e")}};
  request.sequence = {"7", false, true, false};
  CallMessage back;
  ASSERT_TRUE(Parse(Encode(5, request), back).ok());
  EXPECT_EQ(back.instance, 5u);
  EXPECT_EQ(back.request.parameters, request.parameters);
  EXPECT_EQ(ValuesOf<float>(back.request.inputs[0]), (std::vector<float>{1, 2}));
  EXPECT_TRUE(!back.request.sequence.numeric && back.request.sequence.start);
  const std::vector<const Request*> requests = {&request, nullptr};
  const std::vector<int64_t> items = {2, 1};
  Batch batch;
  batch.requests = &requests;
  batch.items = &items;
  batch.outputs = {"y"};
  RunMessage run;
  ASSERT_TRUE(Parse(Encode(RunMessageOf(batch)), run).ok());
  EXPECT_EQ(run.present, (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(run.items, items);
  EXPECT_EQ(run.requests[0].parameters, request.parameters);
}

// Every prefix of a payload, and every payload with one changed byte, is refused or gives valid tensors.
TEST(IsolationMessages, DamagedPayloadsAreRefused) {
  Response response;
  response.outputs = {Wire<float>("y", DType::kF32, {2}, {1, 2}), Texts("t", {2}, {"", "abc"})};
  const std::string loaded = Encode(Status(), SomeDescription()), ran = Encode(Status(), SomeResult()),
                    answer = Encode(response), statistics = Encode(StatisticsMessage{1, {{"a", 2}}});
  const auto check = [](std::string_view bytes) {
    LoadedMessage a;
    RanMessage b;
    Response c;
    StatisticsMessage d;
    bool broken = false;
    int parsed = 0;
    parsed += Parse(bytes, a).ok();
    if (Parse(bytes, b, broken).ok()) {
      ++parsed;
      for (const ArenaTensor& output : b.outputs) EXPECT_TRUE(CheckShape(output.tensor, output.bytes).ok());
    }
    if (Parse(bytes, c).ok()) {
      ++parsed;
      for (const WireTensor& output : c.outputs)
        EXPECT_TRUE(CheckShape(output, output.bytes.size()).ok() && CheckStrings(output).ok());
    }
    return parsed + Parse(bytes, d).ok();
  };
  for (const std::string& payload : {loaded, ran, answer, statistics}) {
    for (size_t size = 0; size < payload.size(); ++size)
      EXPECT_EQ(check(std::string_view(payload).substr(0, size)), 0) << size;
    for (size_t i = 0; i < payload.size(); ++i)
      for (const int change : {1, 0x80, 0xFF}) {
        std::string damaged = payload;
        damaged[i] = static_cast<char>(damaged[i] ^ change);
        check(damaged);
      }
  }
}

TEST(IsolationMessages, WrongTensorsAreRefused) {
  const auto status = [](WireTensor tensor, uint64_t bytes) { return CheckShape(tensor, bytes).ok(); };
  EXPECT_TRUE(status({"y", DType::kF32, {2}, {}}, 8));
  EXPECT_TRUE(status({"y", DType::kF32, {}, {}}, 4));
  EXPECT_FALSE(status({"", DType::kF32, {2}, {}}, 8));
  EXPECT_FALSE(status({"y", DType::kInvalid, {2}, {}}, 8));
  EXPECT_FALSE(status({"y", DType::kF32, {-2}, {}}, 8));
  EXPECT_FALSE(status({"y", DType::kF32, {2}, {}}, 7));
  EXPECT_FALSE(status({"y", DType::kF32, {int64_t{1} << 62, 4}, {}}, 0));
  EXPECT_FALSE(status({"y", DType::kF32, Dims(65, 1), {}}, 4));
  WireTensor texts = Texts("t", {2}, {"a", "b"});
  EXPECT_TRUE(CheckStrings(texts).ok());
  texts.dims = {3};
  EXPECT_FALSE(CheckStrings(texts).ok());
  texts.dims = {1};
  EXPECT_FALSE(CheckStrings(texts).ok());
}

TEST(IsolationChannel, PassesMessagesAndDescriptors) {
  auto sockets = Channel::Pair();
  ASSERT_TRUE(sockets.ok());
  Channel a(std::move(sockets->first)), b(std::move(sockets->second));
  auto arena = MakeArena();
  ASSERT_TRUE(arena.ok());
  const std::string large(300'000, 'x');
  ASSERT_TRUE(a.Send(MessageType::kRun, 7, "hello", {arena->get()}).ok());
  ASSERT_TRUE(a.Send(MessageType::kRan, 8, large, {arena->get(), arena->get()}).ok());
  auto first = b.Receive(), second = b.Receive();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->payload, "hello");
  EXPECT_EQ(first->fds.size(), 1u);
  EXPECT_TRUE(IsSealed(first->fds[0].get()));
  EXPECT_EQ(second->id, 8u);
  EXPECT_EQ(second->payload, large);
  EXPECT_EQ(second->fds.size(), 2u);
  EXPECT_EQ(b.Receive(std::chrono::steady_clock::now()).status().code(), Code::kCancelled);
  a.Shutdown();
  EXPECT_EQ(b.Receive().status().code(), Code::kUnavailable);
}

TEST(IsolationChannel, RefusesWrongMessages) {
  auto sockets = Channel::Pair();
  ASSERT_TRUE(sockets.ok());
  const UniqueFd raw = std::move(sockets->first);
  Channel channel(std::move(sockets->second));
  for (const size_t size : {1, 31, 32, 33, 40'000}) {
    const std::string garbage(size, 'g');
    ASSERT_EQ(write(raw.get(), garbage.data(), size), static_cast<ssize_t>(size));
    EXPECT_EQ(channel.Receive().status().code(), Code::kInternal) << size;
  }
  // A writer that nobody reads waits for a limited time, or not at all.
  Status status;
  for (int i = 0; i < 10'000 && status.ok(); ++i)
    status = channel.Send(MessageType::kRun, 0, std::string(10'000, 'x'), {}, false);
  EXPECT_EQ(status.code(), Code::kUnavailable);
}

TEST(IsolationArena, GrowsAndStaysValid) {
  auto arena = Arena::Create();
  ASSERT_TRUE(arena.ok());
  EXPECT_NE(ftruncate(arena->fd(), 0), 0) << "it cannot become smaller";
  ArenaMemory memory{UniqueFd(dup(arena->fd()))};
  ASSERT_TRUE(memory.Reset().ok());
  std::vector<Buffer> pieces;
  for (const size_t size : {10, 100'000, 0, 1'000'000, 5}) {
    pieces.push_back(memory.Allocate(size));
    ASSERT_TRUE(pieces.back().defined());
    std::memset(pieces.back().data(), static_cast<int>(pieces.size()), size);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto offset = static_cast<uint64_t>(memory.OffsetOf(pieces[i].data()));
    ASSERT_TRUE(arena->MapAtLeast(offset + pieces[i].size()).ok());
    for (size_t k = 0; k < pieces[i].size(); k += 997)
      ASSERT_EQ(static_cast<size_t>(arena->data()[offset + k]), i + 1);
  }
  EXPECT_EQ(arena->MapAtLeast(uint64_t{1} << 40).code(), Code::kInternal);
  std::byte other{};
  EXPECT_EQ(memory.OffsetOf(&other), -1);
  EXPECT_TRUE(memory.Reset().ok());
  arena->Trim();
}

}  // namespace
}  // namespace tern::server
