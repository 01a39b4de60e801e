#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "ops/support/epilogue.h"
#include "runtime/bind/kernel_cases.h"

namespace tern {
namespace {

TEST(Kernels, MatMul) {
  CheckKernels(
      {"f32", "f64", "f16", "bf16", "i32", "u32", "i64", "u64"},
      {"MatMul : T[2,3] T[3,4]", "MatMul : T[13,37] T[37,41]", "MatMul {transpose_b=true} : T[2,5] T[3,5]"});
  CheckKernels({
      "MatMul : f32[1,1] f32[1,1]",
      "MatMul : f32[130,300] f32[300,70] @2e-4",
      "MatMul : f32[5,700] f32[700,1100] @2e-4",
      "MatMul {transpose_b=true} : f32[3,700] f32[1100,700] @2e-4",
      "MatMul {transpose_a=true} : f32[700,3] f32[700,50] @2e-4",
      "MatMul {transpose_a=true,transpose_b=true} : f32[33,50] f32[20,33]",
      "MatMul {alpha=0.25} : f32[9,8] f32[8,7] f32[7]",
      "MatMul : f32[9,8] f32[8,7] f32[9,1]",
      "MatMul : f32[2,9,8] f32[8,7] f32[2,1,7]",
      "MatMul : f32[9,8] f32[8,7] f32[]",
      "MatMul {alpha=2} : f16[9,8] f16[8,7] f16[7]",
      "MatMul : i64[9,8] i64[8,7] i64[9,7]",
      "MatMul : f32[7] f32[7]",
      "MatMul : f32[7] f32[7,3]",
      "MatMul : f32[4,7] f32[7]",
      "MatMul {transpose_b=true} : f32[4,7] f32[7]",
      "MatMul : f32[5,4,7] f32[7]",
      "MatMul : f32[7] f32[5,7,3]",
      "MatMul : f32[2,1,3,4] f32[5,4,6]",
      "MatMul : f32[1,5,3,4] f32[2,1,4,6]",
      "MatMul {transpose_b=true} : f32[2,3,17,64] f32[2,3,19,64]",
      "MatMul : f32[3,4,5] f32[5,6]",
      "MatMul : f32[0,4] f32[4,3]",
      "MatMul : f32[4,0] f32[0,3]",
      "MatMul : f32[4,0] f32[0,3] f32[3]",
      "MatMul : f32[0,4,2] f32[2,3]",
      "MatMul : i8[9,40] i8[40,50]",
      "MatMul : u8[9,40] i8[40,50]",
      "MatMul : u8[3,2,40] u8[40,5]",
      "MatMul : i16[3,2] i16[2,5]",
  });
}

TEST(Kernels, MatMulEpilogue) {
  const std::string every = "MatMul {activation=\"KIND\",act_alpha=0.75,act_beta=1.5} : ";
  for (const std::string kind : EpilogueNames()) {
    // Operands between 0.1 and 3 (acosh: at least 1), where all functions are defined and not steep.
    const std::string head = std::regex_replace(every, std::regex("KIND"), kind);
    CheckKernels({"f32", "f16", "bf16", "f64"},
                 {(head + "T[5,1]+ T[1,7]=(0.25,0.3,0.5,0.75,0.8,0.9,1)").c_str()});
    CheckKernels({(head + "f32[5,3] f32[3,7] @1e-4").c_str()});
  }
  CheckKernels({"f32", "f64", "f16", "bf16", "i32", "u32", "i64", "u64"},
               {"MatMul : T[13,37] T[37,41] _ T[13,41]", "MatMul : T[13,37] T[37,41] T[41] T[13,1]",
                "MatMul : T[3,13,7] T[7,41] T[13,41] T[3,1,41]", "MatMul : T[2,3] T[3,4] T[] T[4]",
                "MatMul : T[1,7] T[7,9] T[1,9] T[]"});
  CheckKernels({"f32", "f16", "bf16"},
               {
                   "MatMul {activation=\"relu\"} : T[13,37] T[37,41] T[41] T[13,41]",
                   "MatMul {activation=\"clip\",act_alpha=0,act_beta=inf} : T[0,7] T[7,5]",
                   "MatMul {activation=\"sigmoid\"} : T[4,0] T[0,3] _ T[4,1]",
                   "MatMul {activation=\"tanh\"} : T[7] T[7] T[] T[]",
                   "MatMul {activation=\"gelu\"} : T[4,7] T[7] T[4] T[1]",
                   "MatMul {activation=\"mish\"} : T[2,1,3,4] T[5,4,6] T[6] T[5,3,6]",
                   "MatMul {activation=\"relu\"} : T[2,3,4] T[2,4,5] T[2,1,1] T[3,5]",
                   "MatMul {activation=\"elu\"} : T[3,4,5] T[5,6] _ T[3,1,6]",
               });
  CheckKernels({
      // Several blocks of k, rows and columns; few rows with b in either order; contiguous rows.
      "MatMul {activation=\"relu\"} : f32[301,300] f32[300,1100] f32[1100] f32[301,1100] @2e-4",
      "MatMul {activation=\"relu\"} : f32[301,300] f32[300,1100] _ f32[301,1] @2e-4",
      "MatMul {activation=\"swish\"} : f32[3,700] f32[700,1100] f32[1100] f32[1100] @2e-4",
      "MatMul {transpose_b=true,activation=\"swish\"} : f32[3,700] f32[1100,700] f32[1100] f32[3,1100] @2e-4",
      "MatMul {activation=\"softplus\"} : f32[400,20] f32[20,7] f32[7] f32[400,7]",
      "MatMul {activation=\"tanh\"} : f16[200,30] f16[30,600] f16[200,600] f16[1,600]",
      "MatMul {activation=\"relu\"} : f32[2,3]~ f32[3,4] _ f32[2,4]~",
      "MatMul : i8[9,40] i8[40,50] i32[50] i32[9,50]",
      "MatMul : u8[9,40] i8[40,50] _ i32[9,1]",
  });
}

TEST(Kernels, Conv) {
  CheckKernels(
      {"f32", "f16", "bf16", "f64", "i32", "i64"},
      {"Conv {pads=[1,1,1,1]} : T[1,3,5,6] T[4,3,3,3] T[4]", "Conv {strides=[2,1]} : T[2,2,5,6] T[3,2,1,1]"});
  CheckKernels({
      "Conv : f32[1,3,9,9] f32[5,3,1,1] f32[5]",
      "Conv {pads=[3,3,3,3],strides=[2,2]} : f32[1,3,33,31] f32[17,3,7,7] @1e-4",
      "Conv {pads=[0,2,1,0],dilations=[2,1]} : f32[2,4,9,8] f32[6,4,3,2] f32[6]",
      "Conv {group=2,pads=[1,1,1,1]} : f32[2,6,5,5] f32[4,3,3,3] f32[4]",
      "Conv {group=3} : f32[2,6,5,5] f32[9,2,1,1]",
      "Conv {pads=[-1,0,0,-2]} : f32[1,2,7,8] f32[3,2,3,3]",
      "Conv {auto_pad=\"same_upper\",strides=[2,2]} : f32[1,2,7,8] f32[3,2,3,2]",
      "Conv {auto_pad=\"same_lower\",strides=[2,3]} : f32[1,2,7,8] f32[3,2,4,4]",
      "Conv {pads=[4,4]} : f32[2,3,5] f32[4,3,3] f32[4]",
      "Conv {strides=[3]} : f32[1,2,11] f32[4,2,2]",
      "Conv {pads=[1,0,1,1,1,0],strides=[1,2,1]} : f32[1,2,4,5,6] f32[3,2,2,3,3] f32[3]",
      "Conv : f32[0,3,5,5] f32[4,3,3,3]",
      "Conv {pads=[1,1,1,1]} : i8[1,3,5,6] i8[4,3,3,3]",
      "Conv {pads=[1,1,1,1]} : u8[1,3,5,6] i8[4,3,3,3] i32[4]",
      "Conv : u8[1,3,5,6] u8[4,3,1,1]",
  });
}

TEST(Kernels, DepthwiseConv) {
  CheckKernels({
      "Conv {group=4,pads=[1,1,1,1]} : f16[2,4,7,40] f16[4,1,3,3] f16[4]",
      "Conv {group=4,pads=[1,1,1,1]} : f32[2,4,7,40] f32[4,1,3,3] f32[4]",
      "Conv {group=4,pads=[1,1,1,1],strides=[2,2]} : f32[1,4,37,37] f32[4,1,3,3] f32[4]",
      "Conv {group=3,pads=[2,2,2,2]} : f32[1,3,20,21] f32[6,1,5,5]",
      "Conv {group=3,dilations=[2,3]} : f32[1,3,20,21] f32[3,1,3,3]",
      "Conv {group=3,strides=[3,3],pads=[5,5,5,5]} : f32[1,3,4,3] f32[3,1,7,7]",
      "Conv {group=2,pads=[1,2]} : f32[1,2,9] f32[2,1,4]",
      "Conv {group=2,pads=[1,0,1,1,0,1]} : f32[1,2,3,4,5] f32[2,1,2,3,3]",
      "Conv {group=3,pads=[0,0,-2,-2]} : f32[1,3,9,9] f32[3,1,3,3]",
  });
}

TEST(Kernels, ConvTranspose) {
  CheckKernels({
      "ConvTranspose : f32[1,3,4,5] f32[3,2,3,3] f32[2]",
      "ConvTranspose {strides=[2,2],pads=[1,1,1,1],output_padding=[1,0]} : f32[2,4,5,6] f32[4,3,3,3]",
      "ConvTranspose {group=2,strides=[3,2]} : f32[1,4,3,4] f32[4,3,2,2] f32[6]",
      "ConvTranspose {dilations=[2,2],pads=[0,1,2,0]} : f32[1,2,5,4] f32[2,3,3,2]",
      "ConvTranspose {auto_pad=\"same_upper\",strides=[2,2]} : f32[1,2,3,4] f32[2,3,3,3]",
      "ConvTranspose {output_shape=[9,10],strides=[3,2]} : f32[1,2,3,4] f32[2,3,3,3]",
      "ConvTranspose {strides=[2]} : f32[1,2,7] f32[2,3,4] f32[3]",
      "ConvTranspose {pads=[1,0,2,1],activation=\"relu\"} : f32[1,2,300,300] f32[2,2,5,5] f32[2]",
      "ConvTranspose {strides=[2,1,2]} : f32[1,2,3,2,3] f32[2,1,2,3,2]",
  });
}

TEST(Kernels, ConvEpilogue) {
  CheckKernels(
      {"f32", "f16", "bf16", "f64"},
      {
          "Conv {pads=[1,1,1,1],activation=\"relu\"} : T[2,3,5,6] T[4,3,3,3] T[4] T[2,4,5,6]",
          "Conv {pads=[1,1,1,1],activation=\"gelu\"} : T[2,3,5,6] T[4,3,3,3] _ T[4,1,1]",
          "Conv {strides=[2,1],activation=\"clip\",act_alpha=-0.5,act_beta=0.75} : T[2,2,5,6] T[3,2,1,1]",
          "Conv {group=2,activation=\"hard_swish\"} : T[2,6,5,7] T[4,3,1,1] T[4] T[2,1,5,7]",
          "Conv {activation=\"leaky_relu\",act_alpha=0.1} : T[1,3,9,9] T[5,3,1,1] T[5] T[]",
          "Conv {activation=\"sigmoid\"} : T[0,3,5,5] T[4,3,3,3] _ T[4,1,1]",
      });
  CheckKernels({"i32", "i64"}, {"Conv {pads=[1,1,1,1]} : T[1,3,5,6] T[4,3,3,3] T[4] T[1,4,5,6]"});
  CheckKernels({
      "Conv {pads=[3,3,3,3],strides=[2,2],activation=\"swish\"} : f32[1,3,33,31] f32[17,3,7,7] f32[17] "
      "f32[1,17,17,16] @1e-4",
      "Conv {pads=[1,1,1,1],activation=\"mish\"} : f32[1,40,37,41] f32[150,40,3,3] f32[150] f32[37,41] @1e-4",
      "Conv {pads=[4,4],activation=\"tanh\"} : f32[2,3,5] f32[4,3,3] f32[4] f32[2,4,1]",
      "Conv {activation=\"elu\"} : f32[1,2,4,5,6] f32[3,2,2,3,3] f32[3] f32[1,3,3,3,4]",
      "Conv {pads=[1,1,1,1]} : u8[1,3,5,6] i8[4,3,3,3] i32[4] i32[6]",
  });
}

TEST(Kernels, DepthwiseConvEpilogue) {
  CheckKernels(
      {"f32", "f16", "bf16"},
      {
          "Conv {group=4,pads=[1,1,1,1],activation=\"relu\"} : T[2,4,7,40] T[4,1,3,3] T[4] T[2,4,7,40]",
          "Conv {group=3,pads=[2,2,2,2],activation=\"swish\"} : T[1,3,20,21] T[6,1,5,5] _ T[6,1,1]",
      });
  CheckKernels({
      // More elements than one part of the epilogue, and rows that do not divide it.
      "Conv {group=2,pads=[1,1,1,1],activation=\"softplus\"} : f32[1,2,99,101] f32[2,1,3,3] f32[2] f32[1,2,99,101]",
      "Conv {group=2,pads=[1,2],activation=\"abs\"} : f32[1,2,9] f32[2,1,4] _ f32[9]",
      "Conv {group=2,pads=[1,0,1,1,0,1],activation=\"relu\"} : f32[1,2,3,4,5] f32[2,1,2,3,3] f32[2] f32[4,2,5]",
      "Conv {group=2,activation=\"relu\"} : f32[0,2,5,5] f32[2,1,3,3] f32[2] f32[1]",
  });
}

TEST(Kernels, ConvTransposeEpilogue) {
  CheckKernels(
      {"f32", "f16", "bf16"},
      {
          "ConvTranspose {activation=\"relu\"} : T[1,3,4,5] T[3,2,3,3] T[2] T[1,2,6,7]",
          "ConvTranspose {strides=[2,2],pads=[1,1,1,1],output_padding=[1,0],activation=\"sigmoid\"} : "
          "T[2,4,5,6] T[4,3,3,3] _ T[3,1,1]",
      });
  CheckKernels({
      "ConvTranspose {group=2,strides=[3,2],activation=\"elu\"} : f32[2,4,3,4] f32[4,3,2,2] f32[6] f32[2,6,1,1]",
      "ConvTranspose {strides=[2],activation=\"gelu_tanh\"} : f32[1,2,7] f32[2,3,4] f32[3] f32[16]",
      "ConvTranspose {strides=[2,1,2]} : f32[1,2,3,2,3] f32[2,1,2,3,2] _ f32[1,1,6,4,6]",
  });
}

}  // namespace
}  // namespace tern
