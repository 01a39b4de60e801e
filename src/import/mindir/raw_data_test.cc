#include "import/mindir/raw_data.h"

#include <gtest/gtest.h>

#include "import/mindir/proto.h"

namespace tern::mindir {
namespace {

pb::ModelProto ModelWith(std::vector<size_t> sizes) {
  pb::ModelProto model;
  model.set_ir_version("1");
  model.set_mind_ir_version(3);
  for (const size_t size : sizes) {
    auto* p = model.mutable_graph()->add_parameter();
    p->set_name("p");
    p->set_raw_data(std::string(size, 'w'));
    p->set_ref_key("k");
  }
  return model;
}

TEST(RawData, LargeParametersAreSplitOff) {
  const std::string bytes = ModelWith({10000, 8, 5000}).SerializeAsString();
  const auto split = SplitRawData(bytes);
  ASSERT_TRUE(split.has_value());
  ASSERT_EQ(split->spans.size(), 2u);
  EXPECT_EQ(split->spans[0].parameter, 0);
  EXPECT_EQ(split->spans[1].parameter, 2);
  for (const RawSpan& span : split->spans)
    EXPECT_EQ(bytes.substr(span.offset, span.size), std::string(span.size, 'w'));
  pb::ModelProto stripped, wanted = ModelWith({10000, 8, 5000});
  ASSERT_TRUE(stripped.ParseFromString(split->stripped));
  for (const int i : {0, 2}) wanted.mutable_graph()->mutable_parameter(i)->clear_raw_data();
  EXPECT_EQ(stripped.SerializeAsString(), wanted.SerializeAsString());
}

TEST(RawData, OtherMessagesAreLeftToProtobuf) {
  const std::string bytes = ModelWith({10000}).SerializeAsString();
  EXPECT_FALSE(SplitRawData(ModelWith({8}).SerializeAsString()).has_value());
  EXPECT_FALSE(SplitRawData(bytes + bytes).has_value()) << "two graphs must be merged";
  EXPECT_FALSE(SplitRawData(bytes.substr(0, bytes.size() - 100)).has_value());
  EXPECT_FALSE(SplitRawData("").has_value());
}

}  // namespace
}  // namespace tern::mindir
