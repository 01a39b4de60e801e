// Convolutions and pools over channels-last images.
#include <gtest/gtest.h>

#include "runtime/bind/kernel_cases.h"
#include "runtime/test_support.h"

namespace tern {
namespace {

// Tolerance 3e-4 where F(6,3) is chosen. Its error is up to 1.1e-6 sqrt(channels + 16) of the largest result
// (WinogradError, docs/reports/accuracy.md). Largest results are 61 with 16 channels and 51 with 8: the
// bounds are 3.8e-4 and 2.7e-4, the observed errors 2.7e-4 and 1.6e-4. Direct sums stay below 1e-4.
TEST(NhwcKernels, Conv) {
  CheckKernels(
      {"Conv {channels_last=true} : f32[2,5,6,20] f32[17,20,1,1]! f32[17]! @1e-4",
       "Conv {channels_last=true,strides=[2,2]} : f32[2,15,16,20] f32[17,20,1,1]! @1e-4",
       "Conv {channels_last=true,pads=[1,1,1,1]} : f32[1,9,10,16] f32[33,16,3,3]! f32[33] @3e-4",
       "Conv {channels_last=true,pads=[0,1,1,0],strides=[2,1],dilations=[1,2]} : f32[1,9,20,7] f32[8,7,3,3]! @1e-4",
       "Conv {channels_last=true,auto_pad=\"same_upper\",strides=[2,2]} : f32[1,21,20,3] f32[16,3,7,7]! @1e-4",
       "Conv {channels_last=true,auto_pad=\"same_lower\"} : f32[1,8,9,3] f32[16,3,4,4]! @1e-4",
       "Conv {channels_last=true,pads=[1,1]} : f32[2,50,12] f32[9,12,3]! f32[9]! @1e-4",
       "Conv {channels_last=true,pads=[1,0,1,1,0,1]} : f32[1,4,5,6,3] f32[5,3,3,2,3]! @1e-4",
       "Conv {channels_last=true,group=4,pads=[1,1,1,1]} : f32[1,7,8,32] f32[24,8,3,3]! @1e-4",
       "Conv {channels_last=true,group=3,pads=[1,1,1,1]} : f32[1,7,8,3] f32[6,1,3,3]! @1e-4",
       "Conv {channels_last=true,pads=[1,1,1,1]} : f32[0,9,10,16] f32[33,16,3,3]!",
       // weights that are not constant
       "Conv {channels_last=true,pads=[1,1,1,1]} : f32[1,5,6,4] f32[8,4,3,3] f32[8] @1e-4"});
}

// Windows that cannot be read in place are left to the im2col kernel, so that nothing is measured twice.
TEST(NhwcKernels, WideDilationsUseIm2col) {
  const auto direct = [](const std::string& attrs) {
    const auto graph = ParseOrDie(StrCat(
        "graph @g(%x: f32[1,20,40,8]) -> (%y) {\n  #s: i64[4] = (16, 8, 3, 3)\n",
        "  %w = Fill(#s) {value=f32[] (0.5)}\n  %y = Conv(%x, %w) {channels_last=true, ", attrs, "}\n}"));
    SessionOptions options;
    options.explain = true;
    const auto session = SessionOf(graph, options);
    EXPECT_TRUE(session->Run({Counting({1, 20, 40, 8})}).ok());
    const Choice choice = session->Choices().back();
    for (const Candidate& c : choice.candidates)
      if (c.kernel == "cpu.conv.nhwc.direct.f32") return c;
    return Candidate{};
  };
  EXPECT_TRUE(direct("dilations=[2,2], pads=[2,2,2,2]").legal);
  const Candidate far = direct("dilations=[1000,1000], pads=[1000,1000,1000,1000]");
  EXPECT_FALSE(far.legal);
  EXPECT_EQ(far.why_not, "the dilation is too wide to read windows in place");
}

TEST(NhwcKernels, ConvWithEpilogue) {
  CheckKernels(
      {"Conv {channels_last=true,activation=\"relu\"} : f32[1,5,6,20] f32[17,20,1,1]! f32[17]! f32[1,5,6,17] @1e-4",
       "Conv {channels_last=true,pads=[1,1,1,1],activation=\"clip\",act_alpha=-1,act_beta=6} : "
       "f32[1,9,10,8] f32[40,8,3,3]! f32[40]! f32[1,9,10,40] @1e-4",
       "Conv {channels_last=true,pads=[1,1,1,1],activation=\"gelu\"} : f32[1,9,10,8] f32[40,8,3,3]! @3e-4",
       "Conv {channels_last=true,activation=\"hard_swish\"} : f32[1,9,10,8] f32[40,8,1,1]! _ f32[40] @1e-4",
       "Conv {channels_last=true,pads=[1,1,1,1],activation=\"swish\",act_alpha=1} : f32[1,9,10,8] f32[40,8,3,3]! _ "
       "f32[1,9,1,1] @1e-4"});
}

TEST(NhwcKernels, Depthwise) {
  CheckKernels(
      {"Conv {channels_last=true,group=40,pads=[1,1,1,1]} : f32[2,9,10,40] f32[40,1,3,3]! f32[40]! @1e-4",
       "Conv {channels_last=true,group=20,pads=[2,2,2,2],strides=[2,2],activation=\"relu\"} : "
       "f32[1,15,14,20] f32[20,1,5,5]! f32[20]! f32[1,8,7,20] @1e-4",
       "Conv {channels_last=true,group=20,pads=[3,3,3,3],activation=\"gelu\"} : f32[1,9,10,20] f32[20,1,7,7]! @1e-4",
       "Conv {channels_last=true,group=5,pads=[4,4]} : f32[2,30,5] f32[5,1,9]! @1e-4",
       "Conv {channels_last=true,group=20,dilations=[2,2]} : f32[1,9,10,20] f32[20,1,3,3]! @1e-4"});
}

TEST(NhwcKernels, ConvTranspose) {
  CheckKernels(
      {"ConvTranspose {channels_last=true,strides=[2,2]} : f32[2,5,6,20] f32[20,17,2,2]! f32[17]! @1e-4",
       "ConvTranspose {channels_last=true,strides=[2,2],pads=[1,1,1,1],output_padding=[1,1],activation=\"relu\"} : "
       "f32[1,5,6,8] f32[8,6,3,3]! @1e-4",
       "ConvTranspose {channels_last=true,strides=[2,3],auto_pad=\"same_upper\"} : f32[1,5,6,8] f32[8,6,4,4]! @1e-4",
       "ConvTranspose {channels_last=true,strides=[2,2],output_shape=[10,13]} : f32[1,5,6,8] f32[8,6,3,4]! @1e-4",
       "ConvTranspose {channels_last=true,strides=[4],group=2,activation=\"tanh\"} : f32[1,9,8] f32[8,3,8]! f32[6] @1e-4",
       "ConvTranspose {channels_last=true,dilations=[2,1]} : f32[1,5,6,8] f32[8,6,3,3]! @1e-4",
       "ConvTranspose {channels_last=true,strides=[2,2],dilations=[2,2]} : f32[1,5,6,8] f32[8,6,3,3]! @1e-4"});
}

TEST(NhwcKernels, Pool) {
  for (const char* kind : {"max", "average"}) {
    const std::string op = std::string("Pool {channels_last=true,kind=\"") + kind + "\",";
    for (const char* rest :
         {"kernel=[3,3],strides=[2,2],pads=[1,1,1,1]} : f32[2,9,10,20]",
          "kernel=[2,2],strides=[2,2],ceil_mode=true} : f32[1,9,7,33]",
          "kernel=[5,5],pads=[2,2,2,2]} : f32[1,9,10,70]", "kernel=[3],dilations=[2]} : f32[2,12,5]",
          "kernel=[2,3,2],strides=[1,2,2]} : f32[1,4,7,6,3]",
          "kernel=[3,3],auto_pad=\"same_upper\",strides=[2,2]} : f32[1,10,9,16]"})
      CheckKernels({(op + rest).c_str()});
  }
  CheckKernels(
      {"Pool {channels_last=true,kernel=[3,3],pads=[1,1,1,1]} : f32[1,6,5,20]~",
       "Pool {channels_last=true,kind=\"average\",count_include_pad=true,kernel=[3,3],pads=[1,1,1,1]} : "
       "f32[1,6,5,20]",
       "Pool {channels_last=true,kernel=[3,3]} : u8[1,6,5,20]",
       "GlobalPool {channels_last=true,kind=\"average\"} : f32[2,7,7,40]",
       "GlobalPool {channels_last=true,kind=\"max\"} : f32[2,7,7,40]"});
}

// Reductions over pixels: enough of them to be split into parts, and few.
TEST(NhwcKernels, Reduce) {
  for (const char* kind : {"mean", "sum", "max", "min", "l1", "l2", "log_sum_exp"})
    for (const char* rest :
         {"f32[1,70,70,24] i64[2]=(1,2)", "f32[1,40,41,100] i64[2]=(1,2)", "f32[2,20,20,37] i64[2]=(1,2)",
          "f32[1,3,3,700] i64[2]=(1,2)", "f32[3,5,6,7] i64[2]=(0,2)"})
      CheckKernels({(std::string("Reduce {kind=\"") + kind + "\"} : " + rest + " @1e-4").c_str()});
  CheckKernels({"Reduce {kind=\"max\"} : f32[1,70,70,24]~ i64[2]=(1,2)",
                "Reduce {kind=\"sum\"} : i64[1,70,70,24] i64[2]=(1,2)"});
}

TEST(NhwcKernels, Resize) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* rest : {"f32[1,5,7,40] _ f32[4]=(1,2,2,1)", "f32[2,9,8,3] _ _ i64[4]=(2,5,11,3)",
                             "f32[1,6,5,70] _ f32[4]=(1,1.5,1,1)"})
      CheckKernels({(std::string("Resize {mode=\"") + mode + "\"} : " + rest).c_str()});
  CheckKernels({"Resize {mode=\"linear\",antialias=true} : f32[1,60,40,20] _ _ i64[4]=(1,3,5,20)"});
}

}  // namespace
}  // namespace tern
