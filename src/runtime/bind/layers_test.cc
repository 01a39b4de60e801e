#include <gtest/gtest.h>

#include "base/strings.h"
#include "runtime/bind/kernel_cases.h"

namespace tern {
namespace {

TEST(Kernels, Einsum) {
  CheckKernels(
      {"f32", "f64", "f16", "i64"},
      {"Einsum {equation=\"ij,jk->ik\"} : T[3,4] T[4,5]",
       "Einsum {equation=\"bind,bjnd->bnij\"} : T[2,3,4,5] T[2,6,4,5]",
       "Einsum {equation=\"...ij,...jk->...ik\"} : T[2,1,3,4] T[5,4,6]",
       "Einsum {equation=\"ijbn->bnij\"} : T[2,3,4,5]",
       "Einsum {equation=\"ibnd,hnd->ibh\"} : T[2,3,4,5] T[6,4,5]",
       "Einsum {equation=\"i,j->ij\"} : T[3] T[4]", "Einsum {equation=\"ij,ij->\"} : T[3,4] T[3,4]",
       "Einsum {equation=\"abc,c->a\"} : T[2,3,4] T[4]", "Einsum {equation=\"ij,j->j\"} : T[3,4] T[4]",
       "Einsum {equation=\"bi,bj->bji\"} : T[0,2] T[0,3]"});
}

TEST(Kernels, Quantize) {
  for (const char* type : {"i8", "u8", "i16", "u16"}) {
    const std::string to = StrCat("Quantize {to=", type);
    for (const char* rest :
         {"} : f32[3,70] f32[]+", ",axis=0} : f32[3,70] f32[3]+", ",axis=1} : f32[2,3,5] f32[3]+",
          ",axis=1,block_size=4} : f32[2,10,3] f32[2,3,3]+", ",axis=-1} : f32[2,3] f32[3]+",
          "} : f16[40] f16[]+", "} : f32[0] f32[]+"})
      CheckKernels({(to + rest).c_str()});
    CheckKernels({StrCat("Quantize : f32[40] f32[]=(0.01) ", type, "[]").c_str(),
                  StrCat("Quantize {axis=0} : f32[3,4] f32[3]+ ", type, "[3]").c_str(),
                  StrCat("Dequantize : ", type, "[40] f32[]+ ", type, "[]").c_str(),
                  StrCat("Dequantize {axis=1} : ", type, "[2,3,5] f32[3]+ ", type, "[3]").c_str(),
                  StrCat("Dequantize {axis=0,block_size=2} : ", type, "[5,3] f32[3,3]+").c_str(),
                  StrCat("Dequantize : ", type, "[4,6] f16[]+").c_str()});
  }
  CheckKernels({"Quantize {to=i8} : f32[40]~ f32[]=(0.5)", "Dequantize : i32[50] f32[]+"});
}

// Scales that are powers of two keep all sums exact.
TEST(Kernels, QuantizedOps) {
  const std::string half = " f32[]=(0.5) ", eighth = " f32[]=(0.125) ";
  for (const char* type : {"i8", "u8", "i16", "u16"}) {
    const std::string t = type, zero = t + "[]=(7) ";
    CheckKernels(
        {StrCat("QConv {pads=[1,1,1,1]} : ", t, "[2,4,6,7]<9", half, zero, "i8[5,4,3,3]<99", half, "_",
                eighth, zero, "i32[5]<99 @0")
             .c_str(),
         StrCat("QConv {group=4,strides=[2]} : ", t, "[1,4,9]<9", half, "_ i8[4,1,3]<99 f32[4]=(1,2,0.5,4) ",
                "i8[4]=(1,0,-3,4)", eighth, "@0")
             .c_str(),
         StrCat("QConv : ", t, "[2,3,4,4]<9", half, zero, "i8[2,3,1,1]=(1,2,3,4,5,-6) f32[2]=(1,2) _", eighth,
                zero, "i32[2]=(5,-9) @0")
             .c_str(),
         StrCat("QMatMul {transpose_b=true,activation=\"relu\"} : ", t, "[2,3,17]<9", half, zero,
                "i8[5,17]<99 f32[5]=(1,2,0.5,4,1) _", eighth, zero, "i32[5]<99 @0")
             .c_str(),
         StrCat("QMatMul : ", t, "[2,3,4]<9", half, zero, t, "[2,4,3]<9", half, "_", eighth, "@0").c_str(),
         StrCat("QBinary {kind=\"add\"} : ", t, "[2,3,17]<9", half, zero, "i8[3,1]<99", eighth, "_", half,
                zero, "@0")
             .c_str(),
         StrCat("QBinary {kind=\"mul\"} : ", t, "[40]<9", half, zero, "i8[40]<99", eighth, "_", half, zero,
                "@0")
             .c_str(),
         StrCat("QUnary {kind=\"relu\"} : ", t, "[2,300]<99", half, zero, eighth, zero, "@0").c_str(),
         StrCat("QUnary {kind=\"sigmoid\"} : ", t, "[3,5]<9", half, zero, "f32[]=(0.004)").c_str(),
         StrCat("QActivation {alpha=0.25} : ", t, "[0]", half, "_", eighth, zero, "@0").c_str(),
         StrCat("QActivation {alpha=0.25} : ", t, "[70]<99", half, "_", eighth, "i8[] @0").c_str(),
         StrCat("QPool {kernel=[2,2],pads=[1,0,0,1]} : ", t, "[1,2,6,6]<9", half, zero, eighth, zero, "@0")
             .c_str(),
         StrCat("QGlobalPool : ", t, "[2,3,4,4]<9", half, zero, eighth, "@0").c_str()});
  }
}

// 8 bits: kernels and reference do the same float operations, whatever the scales.
TEST(Kernels, QuantizedBytes) {
  const std::string p = " f32[]=(0.0371) ", q = " f32[]=(0.0213) ", r = " f32[]=(0.917) ";
  for (const char* type : {"i8", "u8"}) {
    const std::string t = type, zero = t + "[]=(93) ";
    CheckKernels(
        {StrCat("QConv {pads=[1,1,1,1]} : ", t, "[2,4,16,17]<99", p, zero, "i8[5,4,3,3]<99", q, "_", r, zero,
                "i32[5]=(-3000,7,20000000,-2147483648,2147483647) @0")
             .c_str(),
         StrCat("QConv {group=8,activation=\"clip\",act_alpha=-1,act_beta=3} : ", t, "[1,8,39]<99", p,
                "_ i8[8,1,3]<99 f32[8]=(0.11,0.2,0.03,0.4,0.5,0.06,0.7,0.8) i8[8]=(1,0,-3,4,5,6,7,8)", q,
                "@0")
             .c_str(),
         StrCat("QMatMul {transpose_b=true,activation=\"relu\"} : ", t, "[2,3,170]<99", p, zero,
                "i8[5,170]<99 f32[5]=(0.11,0.2,0.03,0.4,0.5) _", r, zero, "i32[5]<99 @0")
             .c_str(),
         StrCat("QMatMul : ", t, "[40]<99", p, zero, t, "[40]<99", q, "_", r, "@0").c_str(),
         StrCat("QBinary {kind=\"add\"} : ", t, "[2,3,1700]<99", p, zero, "i8[3,1]<99", q, "_", p, zero, "@0")
             .c_str(),
         StrCat("QBinary {kind=\"add\"} : u8[700]<99", p, "u8[]=(3) ", t, "[700]<99", q, zero, q, "@0")
             .c_str(),
         StrCat("QBinary {kind=\"mul\"} : ", t, "[700]<99", p, zero, "i8[700]<99", q, "_", q, zero, "@0")
             .c_str(),
         StrCat("QBinary {kind=\"add\"} : ", t, "[0,3]", p, zero, t, "[3]<99", q, "_", q, "@0").c_str(),
         StrCat("QGlobalPool : ", t, "[2,3,14,14]<99", p, zero, q, "@0").c_str(),
         StrCat("QGlobalPool : ", t, "[2,3,0]", p, zero, q, "@0").c_str()});
  }
}

TEST(Kernels, Rnn) {
  for (const char* kind : {"lstm", "gru", "rnn"}) {
    const std::string gates = std::string(kind) == "lstm"  ? "4"
                              : std::string(kind) == "gru" ? "3"
                                                           : "1",
                      twice = std::string(kind) == "lstm"  ? "8"
                              : std::string(kind) == "gru" ? "6"
                                                           : "2";
    const auto rows = [&](int hidden, const std::string& n) { return StrCat(std::stoi(n) * hidden); };
    const std::string op = StrCat("Rnn {kind=\"", kind, "\"");
    const int outputs = std::string(kind) == "lstm" ? 3 : 2;
    const auto text = [&](const std::string& attrs, const std::string& d, const std::string& more) {
      return StrCat(op, attrs, "} : f32[5,3,4] f32[", d, ",", rows(6, gates), ",4] f32[", d, ",",
                    rows(6, gates), ",6] ", more, " -> ", outputs);
    };
    const auto bias = [&](const std::string& d) { return StrCat("f32[", d, ",", rows(6, twice), "]"); };
    for (const std::string& t :
         {text("", "1", ""), text(",direction=\"reverse\"", "1", bias("1")),
          text(",direction=\"bidirectional\"", "2", bias("2") + " i32[3]=(5,0,2) f32[2,3,6]"),
          text(",linear_before_reset=true,clip=0.5", "1", bias("1") + " _ f32[1,3,6]"),
          text(",direction=\"reverse\"", "1", bias("1") + " i64[3]=(1,5,3)")})
      CheckKernels({t.c_str()});
  }
  CheckKernels(
      {"Rnn {input_forget=true} : f32[4,2,3] f32[1,8,3] f32[1,8,2] f32[1,16] _ f32[1,2,2] f32[1,2,2] f32[1,6] -> 3",
       "Rnn : f32[4,2,3] f32[1,8,3] f32[1,8,2] f32[1,16] _ _ f32[1,2,2] f32[1,6] -> 3",
       "Rnn {kind=\"gru\",activations=[\"hard_sigmoid\",\"softsign\"]} : f32[4,1,3] f32[1,6,3] f32[1,6,2]",
       "Rnn {kind=\"rnn\",activations=[\"relu\"]} : f16[4,1,3] f16[1,2,3] f16[1,2,2]",
       "Rnn : f32[0,2,3] f32[1,8,3] f32[1,8,2]"});
}

TEST(Kernels, Attention) {
  CheckKernels(
      {"Attention : f32[2,3,4,8] f32[2,3,5,8] f32[2,3,5,7]",
       "Attention {causal=true} : f32[2,4,5,8] f32[2,2,5,8] f32[2,2,5,8]",
       "Attention {scale=0.3,softcap=2} : f32[1,2,3,8] f32[1,1,9,8] f32[1,1,9,4] f32[3,9]",
       "Attention : f32[2,2,3,8] f32[2,2,9,8] f32[2,2,9,4] bool[2,1,1,9]=(1,0,1,1,1,0,0,1,1,1,1,1,1,1,1,1,1,0)",
       "Attention : f32[2,2,3,8] f32[2,2,9,8] f32[2,2,9,4] f32[2,2,3,5]",
       "Attention {causal=true} : f32[1,2,3,8] f32[1,2,3,8] f32[1,2,3,4] _ f32[1,2,4,8] f32[1,2,4,4] -> 3",
       "Attention {causal=true} : f32[1,2,3,8] f32[1,2,3,8] f32[1,2,3,4] _ f32[1,2,4,8] f32[1,2,4,4]",
       "Attention : f32[2,2,3,8] f32[2,2,6,8] f32[2,2,6,4] _ _ _ i64[2]=(6,3)",
       "Attention : f32[2,2,3,8] f32[2,2,6,8] f32[2,2,6,4] _ _ _ i32[2]=(1,3)",
       "Attention : f16[1,2,3,8] f16[1,2,3,8] f16[1,2,3,4]",
       "Attention : f32[1,1,300,16] f32[1,1,400,16] f32[1,1,400,16]",
       "Attention : f32[1,1,3,8] f32[1,1,3,8] f32[1,1,3,4] -> 2"});
  CheckKernels(
      {"Attention {q_heads=3,kv_heads=3,merged=true} : f32[2,4,24] f32[2,5,24] f32[2,5,21]",
       "Attention {q_heads=4,kv_heads=2} : f32[2,5,32] f32[2,7,16] f32[2,7,6]",
       "Attention {q_heads=4,merged=true,causal=true} : f32[2,5,32] f32[2,2,5,8] f32[2,2,5,3]",
       "Attention {kv_heads=2,scale=0.3,softcap=2} : f32[1,4,5,8] f32[1,9,16] f32[1,2,9,4] f32[4,1,9]",
       "Attention {merged=true} : f32[2,2,3,8] f32[2,2,9,8] f32[2,2,9,4] bool[2,1,1,9]=(1,0,1,1,1,0,0,1,1,1,1,1,1,1,1,1,1,0)",
       "Attention {q_heads=2,kv_heads=2,merged=true,causal=true} : f32[1,3,16] f32[1,3,16] f32[1,3,8] _ "
       "f32[1,2,4,8] f32[1,2,4,4] -> 3",
       "Attention {q_heads=2,kv_heads=2,causal=true} : f32[2,3,16] f32[2,3,16] f32[2,3,8] _ f32[2,2,4,8] "
       "f32[2,2,4,4]",
       "Attention {q_heads=2,kv_heads=2,merged=true} : f32[2,3,16] f32[2,6,16] f32[2,6,8] _ _ _ i64[2]=(6,3) -> 3",
       "Attention {q_heads=2,kv_heads=2,merged=true} : bf16[1,3,16] bf16[1,3,16] bf16[1,3,8]",
       "Attention {q_heads=2,kv_heads=1,merged=true} : f32[1,300,32] f32[1,400,16] f32[1,400,16]",
       "Attention {q_heads=2,kv_heads=1,merged=true} : f32[2,0,32] f32[2,4,16] f32[2,4,16]",
       "Attention {q_heads=3,kv_heads=3,merged=true,joint=true} : f32[2,4,72] f32[2,4,72] f32[2,4,72]",
       "Attention {q_heads=4,kv_heads=2,joint=true} : f32[2,5,64] f32[2,5,64] f32[2,5,64] f32[5,5] -> 3",
       "Attention {q_heads=2,kv_heads=2,merged=true,causal=true,joint=true} : f32[2,3,48] f32[2,3,48] "
       "f32[2,3,48] _ f32[2,2,4,8] f32[2,2,4,8] -> 3",
       "Attention {causal=true,stacked=true} : f32[2,2,3,8] f32[2,2,3,8] f32[2,2,3,8] _ f32[2,2,2,4,8] "
       "f32[2,2,2,4,8] -> 2",
       "Attention {stacked=true} : f32[2,2,3,8] f32[2,2,3,8] f32[2,2,3,8] _ f32[2,2,2,4,8] f32[2,2,2,4,8]",
       "Attention {stacked=true} : f32[2,4,3,8] f32[2,2,3,8] f32[2,2,3,8] -> 2",
       "Attention {stacked=true} : f32[1,2,3,8] f32[1,2,3,8] f32[1,2,3,8] _ f32[2,1,2,0,8] f32[2,1,2,0,8] -> 2",
       "Attention {q_heads=2,kv_heads=2,joint=true,stacked=true} : f32[1,3,48] f32[1,3,48] f32[1,3,48] _ "
       "f32[2,1,2,4,8] f32[2,1,2,4,8] -> 2",
       "Attention {q_heads=2,kv_heads=1,merged=true,joint=true} : f32[1,300,64] f32[1,300,64] f32[1,300,64]",
       "Attention {q_heads=2,kv_heads=2,merged=true,joint=true} : bf16[1,3,48] bf16[1,3,48] bf16[1,3,48]"});
  CheckKernels({"f32", "bf16"},
               {"RotaryEmbedding : T[2,3,4,8] T[2,4,4] T[2,4,4]",
                "RotaryEmbedding {interleaved=true} : T[2,3,4,8] T[1,4,4] T[1,4,4]",
                "RotaryEmbedding {size=4} : T[2,3,4,8] T[2,4,2] T[2,4,2]",
                "RotaryEmbedding {heads=3} : T[2,4,24] T[2,4,4] T[2,4,4]",
                "RotaryEmbedding {heads=2,size=34,interleaved=true} : T[1,5,80] T[1,5,17] T[1,5,17]",
                "RotaryEmbedding {heads=1} : T[2,3,74] T[9,37] T[9,37] i64[2,3]=(8,0,3,4,4,1)",
                "RotaryEmbedding : T[2,2,3,8] T[5,4] T[5,4] i32[1,3]=(4,0,2)",
                "RotaryEmbedding : T[2,2,0,8] T[5,4] T[5,4] i64[2,0]",
                "RotaryEmbedding {interleaved=true} : T[2,70,30,6] T[1,30,3] T[1,30,3]"});
}

TEST(Kernels, Resize) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                    "align_corners", "asymmetric", "tf_half_pixel_for_nn"}) {
      const std::string op = StrCat("Resize {mode=\"", mode, "\",coordinates=\"", coordinates, "\"");
      for (const char* rest :
           {"} : f32[1,2,5,7] _ f32[4]=(1,1,2,1.5)", "} : f32[1,2,9,7] _ _ i64[4]=(1,2,4,3)",
            ",axes=[3,2]} : f32[1,2,5,7] _ _ i64[2]=(14,3)", "} : f16[2,3,4] _ _ i64[3]=(2,3,9)"})
        CheckKernels({(op + rest).c_str()});
    }
  CheckKernels({"Resize {nearest=\"floor\"} : u8[1,2,5,7] _ f32[4]=(1,1,2,2)",
                "Resize {mode=\"linear\",antialias=true} : f32[1,1,16,16] _ _ i64[4]=(1,1,5,7)",
                "Resize {mode=\"cubic\",exclude_outside=true} : f32[1,1,6,6] _ f32[4]=(1,1,2,2)",
                "Resize {mode=\"linear\"} : f32[3,4] _ f32[2]=(1,1)",
                "Resize {mode=\"linear\"} : f32[1,100000] _ _ i64[2]=(100000,1)"});
}

TEST(Kernels, TopKCumulativeRange) {
  CheckKernels({"f32", "f64", "f16", "i32", "i64"},
               {"TopK : T[5,300] i64[1]=(7) -> 2", "TopK {axis=0,largest=false} : T[20,3] i64[1]=(20) -> 2",
                "TopK {axis=1} : T[2,9,3] i64[1]=(0) -> 2", "Cumulative : T[5,30] i64[]=(1)",
                "Cumulative {exclusive=true,reverse=true} : T[5,30] i32[]=(0)",
                "Cumulative {kind=\"prod\"} : T[2,5,3] i64[]=(-2)"});
  CheckKernels({"TopK : f32[40]~ i64[1]=(40) -> 2", "TopK {largest=false} : f32[40]~ i64[1]=(9) -> 2",
                "Range : f32[]=(0) f32[]+ f32[]=(0.3)", "Range : f64[]=(1) f64[] f64[]=(-0.25)",
                "Range : i64[]=(-3) i64[]<5 i64[]=(1)", "Range : i32[]=(9) i32[]<5 i32[]=(-2)"});
}

}  // namespace
}  // namespace tern
