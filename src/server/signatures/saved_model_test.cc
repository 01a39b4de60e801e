#include "server/signatures/saved_model.h"

#include <gtest/gtest.h>

#include "server/grpc/proto_wire.h"

namespace tern::server {
namespace {

std::string Field(uint32_t number, const std::string& bytes) {
  std::string out;
  AppendBytesField(out, number, bytes);
  return out;
}

std::string Number(uint32_t field, uint64_t value) {
  std::string out;
  AppendVarintField(out, field, value);
  return out;
}

std::string Entry(const std::string& key, const std::string& value) {
  return Field(1, key) + Field(2, value);
}

// Returns a TensorInfo of floats with the dims [-1, 3].
std::string Info(const std::string& tensor) {
  const std::string dims = Field(2, Number(1, static_cast<uint64_t>(-1))) + Field(2, Number(1, 3));
  return Field(1, tensor) + Number(2, 1) + Field(3, dims);
}

std::string SignatureDef(const std::string& method) {
  return Field(1, Entry("x", Info("in:0"))) + Field(2, Entry("z", Info("b:0"))) +
         Field(2, Entry("y", Info("a:0"))) + Field(3, method);
}

std::string MetaGraph(const std::vector<std::string>& tags, const std::vector<std::string>& names) {
  std::string info, out;
  for (const std::string& tag : tags) info += Field(4, tag);
  out = Field(1, info);
  for (const std::string& name : names) out += Field(5, Entry(name, SignatureDef("method/" + name)));
  return Field(2, out);
}

TEST(ReadSignatures, ReadsTheGraphForServing) {
  const std::string model =
      Number(1, 1) + MetaGraph({"train"}, {"t"}) + MetaGraph({"serve"}, {"b", "a", "__saved_model_init_op"});
  const auto read = ReadSignatures(model);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  ASSERT_EQ(read->size(), 2u);
  const Signature& a = (*read)[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.method, "method/a");
  EXPECT_EQ(a.inputs[0].tensor, "in:0");
  EXPECT_EQ(a.inputs[0].type, 1);
  EXPECT_EQ(a.inputs[0].dims, (Dims{-1, 3}));
  EXPECT_EQ(a.outputs[0].name, "y");
  EXPECT_EQ(a.outputs[1].name, "z");
  EXPECT_EQ(ReadSignatures(MetaGraph({"serve", "gpu"}, {"only"}))->size(), 1u);
  EXPECT_TRUE(ReadSignatures("")->empty());
}

TEST(ReadSignatures, RefusesDamagedFiles) {
  const std::string model = MetaGraph({"serve"}, {"a"});
  for (size_t size = 1; size < model.size(); ++size)
    EXPECT_FALSE(ReadSignatures(std::string_view(model).substr(0, size)).ok()) << size;
  EXPECT_FALSE(ReadSignatures(MetaGraph({"serve"}, std::vector<std::string>(300, "a"))).ok());
}

}  // namespace
}  // namespace tern::server
