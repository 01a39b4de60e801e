// Tests that fused nodes are exported, and that the imported model computes the same results.
#include "ops/support/epilogue.h"
#include "export/onnx/ops/round_trip_test_support.h"
#include "import/onnx/proto_tensor.h"

namespace tern::onnx {
namespace {

void CheckRoundTrip(const std::string& text, bool contrib) {
  SCOPED_TRACE(StrCat(text, contrib ? " with com.microsoft" : ""));
  ExpectRoundTrip(text, {.contrib = contrib});
}

void CheckRoundTrip(const std::string& text) {
  CheckRoundTrip(text, false);
  CheckRoundTrip(text, true);
}

// Exports the graph with com.microsoft operators allowed. Returns the names of the exported operators.
std::vector<std::string> OperatorsOf(const std::string& text) {
  InitOps();
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  auto bytes = ExportBytes(**graph, {.contrib = true});
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  pb::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(*bytes));
  std::vector<std::string> operators;
  for (const auto& node : model.graph().node()) operators.push_back(node.op_type());
  return operators;
}

std::string Fused(const std::string& op, const std::string& inputs, const std::string& arguments,
                  const std::string& attrs) {
  return StrCat("graph @g(", inputs, ") -> (%y) {\n  %y = ", op, "(", arguments, ") {", attrs, "}\n}");
}

TEST(ExportEpilogue, EveryActivation) {
  for (const char* kind : EpilogueNames())
    CheckRoundTrip(Fused("MatMul", "%a: f32[3,4], %b: f32[4,5], %r: f32[3,1]", "%a, %b, _, %r",
                         StrCat("activation=\"", kind, "\", act_alpha=0.75, act_beta=1.5")));
}

TEST(ExportEpilogue, MatMul) {
  for (const char* type : {"f32", "f64", "f16", "bf16"})
    for (const char* attrs :
         {"activation=\"relu\"", "activation=\"clip\", act_alpha=0, act_beta=inf",
          "transpose_b=true, alpha=0.5", "alpha=0.5, activation=\"swish\", act_alpha=1.7"}) {
      const std::string t = type;
      CheckRoundTrip(Fused("MatMul",
                           StrCat("%a: ", t, "[4,4], %b: ", t, "[4,4], %c: ", t, "[4], %r: ", t, "[4,4]"),
                           "%a, %b, %c, %r", attrs));
      CheckRoundTrip(Fused("MatMul", StrCat("%a: ", t, "[2,4,4], %b: ", t, "[4,4], %r: ", t, "[]"),
                           "%a, %b, _, %r", attrs));
    }
}

TEST(ExportContrib, OneOperatorForAFusedNode) {
  using Names = std::vector<std::string>;
  const std::string flat = "%a: f32[3,4], %b: f32[4,5], %c: f32[5]",
                    tall = "%a: f32[2,3,4], %b: f32[4,5], %c: f32[5]";
  for (const char* kind : {"relu", "tanh", "sigmoid", "softplus", "softsign", "leaky_relu"}) {
    const std::string text =
        Fused("MatMul", flat, "%a, %b, %c", StrCat("activation=\"", kind, "\", act_alpha=0.25"));
    CheckRoundTrip(text);
    EXPECT_EQ(OperatorsOf(text), Names{"FusedGemm"}) << kind;
  }
  const std::string gelu = Fused("MatMul", tall, "%a, %b, %c", "activation=\"gelu\"");
  CheckRoundTrip(gelu);
  EXPECT_EQ(OperatorsOf(gelu), (Names{"MatMul", "BiasGelu"}));
  const std::string fast = Fused("MatMul", tall, "%a, %b, %c", "activation=\"gelu_tanh\", alpha=0.5");
  CheckRoundTrip(fast);
  EXPECT_EQ(OperatorsOf(fast), (Names{"FusedMatMul", "FastGelu"}));
  const std::string transposed = Fused("MatMul", "%a: f32[2,4,3], %b: f32[2,5,4]", "%a, %b",
                                       "transpose_a=true, transpose_b=true, alpha=0.5");
  CheckRoundTrip(transposed);
  EXPECT_EQ(OperatorsOf(transposed), Names{"FusedMatMul"});
  const std::string swish = Fused("Activation", "%x: f32[3,4]", "%x", "kind=\"swish\", alpha=1.5");
  CheckRoundTrip(swish);
  EXPECT_EQ(OperatorsOf(swish), Names{"QuickGelu"});
}

// If y is %s + %m, the addition also reads the sum %s. If y is %m * %m, only the norm reads it.
TEST(ExportContrib, NormOfASum) {
  for (const char* y : {"%s + %m", "%m * %m"})
    for (const char* norm : {"LayerNorm(%s, #g, #b) {epsilon=0.01}", "LayerNorm(%s) {axis=2}"}) {
      const std::string text =
          StrCat("graph @g(%a: f32[2,3,2], %r: f32[2,3,4]) -> (%y) {\n",
                 "  #w: f32[2,4] = (1, 2, 3, 4, 5, 6, 7, 8)  #c: f32[4] = (1, 0, 2, 0)\n",
                 "  #g: f32[4] = (1, 2, 0.5, 1)  #b: f32[4] = (0, 1, 2, 3)\n",
                 "  %s = MatMul(%a, #w, #c, %r)\n  %m = ", norm, "\n  %y = ", y, "\n}");
      CheckRoundTrip(text);
      EXPECT_EQ(OperatorsOf(text)[1], "SkipLayerNormalization");
    }
}

TEST(ExportContrib, Convolution) {
  using Names = std::vector<std::string>;
  const std::string inputs = "%x: f32[1,2,5,5], %w: f32[4,2,3,3], %r: f32[1,4,3,3]";
  for (const char* kind : {"none", "relu", "clip", "sigmoid", "tanh", "leaky_relu", "hard_sigmoid"}) {
    const std::string text = Fused("Conv", inputs, "%x, %w, _, %r",
                                   StrCat("activation=\"", kind, "\", act_alpha=0.25, act_beta=0.75"));
    CheckRoundTrip(text);
    EXPECT_EQ(OperatorsOf(text), Names{"FusedConv"}) << kind;
  }
  EXPECT_EQ(OperatorsOf(Fused("Conv", inputs, "%x, %w, _, %r", "activation=\"gelu\"")),
            (Names{"FusedConv", "Gelu"}));
  EXPECT_EQ(OperatorsOf(Fused("Conv", inputs, "%x, %w", "activation=\"gelu\"")), (Names{"Conv", "Gelu"}));
  EXPECT_EQ(
      OperatorsOf(Fused("Conv", "%x: f32[1,2,5,5], %w: f32[4,2,3,3], %r: f32[4,1,1]", "%x, %w, _, %r", "")),
      (Names{"Conv", "Add"}))
      << "a residual of another shape";
}

TEST(ExportNorm, RmsNorm) {
  for (const char* t : {"f32", "f64", "f16", "bf16"}) {
    CheckRoundTrip(Fused("RmsNorm", StrCat("%x: ", t, "[2,3,4], %s: ", t, "[4]"), "%x, %s", "epsilon=0.01"));
    CheckRoundTrip(Fused("RmsNorm", StrCat("%x: ", t, "[2,3,4]"), "%x", "axis=1"));
  }
  EXPECT_EQ(OperatorsOf(Fused("RmsNorm", "%x: f32[2,3,4], %s: f32[4]", "%x, %s", "")),
            std::vector<std::string>{"RMSNormalization"});
}

// Tests masks in which a query has no keys, so that its result is 0, and a mask with one row for all queries.
TEST(ExportAttention, Guarded) {
  for (const char* mask : {"#m: bool[1,1,2,3] = (1, 0, 1, 0, 0, 0)", "#m: bool[2,1,1,3] = (1, 1, 0, 0, 0, 0)",
                           "#m: f32[1,1,2,3] = (0, 0, -inf, -inf, -inf, -inf)"})
    for (const char* layout : {"%q: f32[2,2,2,4], %k: f32[2,2,3,4]", "%q: f32[2,2,8], %k: f32[2,3,8]"})
      CheckRoundTrip(StrCat("graph @g(", layout, ") -> (%y) {\n  ", mask,
                            "\n  %y = Attention(%q, %k, %k, #m) {q_heads=2, kv_heads=2, guarded=true}\n}"));
}

// The exporter splits a joint value of q, k and v.
TEST(ExportAttention, Joint) {
  for (const char* attrs : {"merged=true", "causal=true", "merged=true, guarded=true", "guarded=true"})
    CheckRoundTrip(Fused("Attention", "%x: f32[2,3,16]", "%x, %x, %x",
                         StrCat("q_heads=4, kv_heads=2, joint=true, ", attrs)));
}

// The past contains keys and values in one tensor.
TEST(ExportAttention, Stacked) {
  for (const char* merged : {"true", "false"})
    CheckRoundTrip(StrCat(R"(graph @g(%x: f32[2,3,12], %p: f32[2,2,2,4,2]) -> (%c, %y) {
  %y, %c = Attention(%x, %x, %x, _, %p, %p) {q_heads=2, kv_heads=2, joint=true, stacked=true, merged=)",
                          merged, "}\n}"));
}

TEST(ExportEpilogue, Convolutions) {
  for (const std::string t : {"f32", "f64", "f16", "bf16"})
    for (const std::string attrs : {"activation=\"relu\"", "activation=\"clip\", act_alpha=0, act_beta=inf",
                                    "strides=[2,2], pads=[1,1,1,1], activation=\"gelu\"", "group=2"})
      for (const std::string op : {"Conv", "ConvTranspose"}) {
        const std::string x = StrCat("%x: ", t, "[1,4,6,6], "),
                          w = StrCat("%w: ", t, attrs == "group=2" ? "[4,2,3,3], " : "[4,4,3,3], "),
                          r = StrCat("%r: ", t, "[4,1,1]"), bias = StrCat("%c: ", t, "[4], ");
        CheckRoundTrip(Fused(op, x + w + r, "%x, %w, _, %r", attrs));
        if (op == "Conv" || attrs != "group=2")
          CheckRoundTrip(Fused(op, x + w + bias + r, "%x, %w, %c, %r", attrs));
      }
  CheckRoundTrip(
      Fused("Conv", "%x: u8[1,2,4,4], %w: i8[3,2,3,3], %c: i32[3], %r: i32[3,2,2]", "%x, %w, %c, %r", ""));
  CheckRoundTrip(Fused("Conv", "%x: i32[1,2,4,4], %w: i32[3,2,3,3], %r: i32[1]", "%x, %w, _, %r", ""));
}

TEST(ExportQuantized, ResidualsAndRealResults) {
  const std::string x = "%x: u8[1,4,6,6], %w: i8[4,4,1,1], %m: i8[6,3], %z: u8[]",
                    scales = ", %s: f32[], %t: f32[], %u: f32[], %v: f32[4]";
  for (const std::string attrs : {"", "activation=\"relu\"", "channels_last=true"}) {
    const std::string own =
        attrs == "channels_last=true" ? "%x: u8[1,6,6,4], %w: i8[4,4,1,1], %z: u8[]" + scales : x + scales;
    const std::string y = attrs == "channels_last=true" ? "[1,6,6,4]" : "[1,4,6,6]";
    CheckRoundTrip(Fused("QConv", StrCat(own, ", %b: i32[4], %r: i8", y, ", %o: i8[]"),
                         "%x, %s, %z, %w, %v, _, %u, %z, %b, %r, %t, %o", attrs));
    CheckRoundTrip(Fused("QConv", StrCat(own, ", %b: f32[4], %r: f32", y),
                         "%x, %s, %z, %w, %v, _, _, _, %b, %r", attrs));
    CheckRoundTrip(Fused("QConv", own, "%x, %s, _, %w, %t", attrs));
  }
  CheckRoundTrip(Fused("QMatMul", x + scales + ", %c: f32[3], %r: f32[1,4,6,3]",
                       "%x, %s, %z, %m, %t, _, _, _, %c, %r",
                       "activation=\"clip\", act_alpha=-9, act_beta=9"));
  CheckRoundTrip(Fused("QMatMul", x + scales + ", %c: i32[3]", "%x, %s, %z, %m, %t, _, _, _, %c", ""));
  for (const std::string attrs : {"residual_first=true", "activation=\"relu\""})
    CheckRoundTrip(Fused("QMatMul", x + scales + ", %r: u8[1,4,6,3], %o: i8[]",
                         "%x, %s, %z, %m, %t, _, %u, %z, _, %r, %s, %z, %u, %o", attrs));
  CheckRoundTrip(Fused("Requantize", x + scales + ", %o: i8[]", "%x, %s, %z, %u, %o", ""));
  CheckRoundTrip("graph @g(%x: f32[3,4]) -> (%s) {\n  %s, %z = DynamicScale(%x)\n}");
}

TEST(ExportQuantized, RoundTrip) {
  const std::string scales = ", %s: f32[], %t: f32[], %u: f32[]";
  for (const std::string t : {"u8", "i8", "i16"}) {
    const std::string z = StrCat(", %z: ", t, "[]");
    for (const std::string attrs :
         {"group=2", "strides=[2,1], pads=[1,1,1,1], group=2", "activation=\"relu\", group=2",
          "activation=\"clip\", act_alpha=0, act_beta=1, group=2"}) {
      const std::string x = StrCat("%x: ", t, "[1,4,6,6], %w: i8[4,2,3,3]");
      CheckRoundTrip(Fused("QConv", x + scales + z, "%x, %s, %z, %w, %t, _, %u, %z", attrs));
      CheckRoundTrip(Fused("QConv", StrCat(x, scales, z, ", %v: f32[4], %b: i32[4]"),
                           "%x, %s, _, %w, %v, _, %u, %z, %b", attrs));
    }
    for (const std::string attrs : {"", "transpose_a=true", "transpose_b=true, activation=\"relu\""}) {
      const std::string matrices = StrCat("%a: ", t, "[4,4], %b: i8[4,4]"),
                        stack = StrCat("%a: ", t, "[2,4,4], %b: i8[4,4]");
      for (const std::string& x : {matrices, stack}) {
        CheckRoundTrip(Fused("QMatMul", x + scales + z, "%a, %s, %z, %b, %t, _, %u", attrs));
        CheckRoundTrip(Fused("QMatMul", StrCat(x, scales, z, ", %v: f32[4], %c: i32[4]"),
                             "%a, %s, _, %b, %v, _, %u, %z, %c", attrs));
      }
    }
    const std::string x = StrCat("%x: ", t, "[1,4,6,6]");
    for (const std::string kind : {"add", "mul"})
      CheckRoundTrip(Fused("QBinary", StrCat(x, ", %k: i8[4,1,1]", scales, z), "%x, %s, %z, %k, %t, _, %u",
                           StrCat("kind=\"", kind, "\"")));
    for (const std::string kind : {"sigmoid", "hard_swish", "relu", "mish"})
      CheckRoundTrip(Fused("QUnary", x + scales + z, "%x, %s, %z, %u, %z", StrCat("kind=\"", kind, "\"")));
    for (const std::string kind : {"leaky_relu", "swish", "hard_sigmoid"})
      CheckRoundTrip(Fused("QActivation", x + scales + z, "%x, %s, _, %u, %z",
                           StrCat("kind=\"", kind, "\", alpha=0.25, beta=0.5")));
    CheckRoundTrip(
        Fused("QPool", x + scales + z, "%x, %s, %z, %u", "kernel=[2,2], strides=[2,2], ceil_mode=true"));
    CheckRoundTrip(Fused("QGlobalPool", x + scales + z, "%x, %s, _, %u, %z", ""));
  }
}

}  // namespace
}  // namespace tern::onnx
