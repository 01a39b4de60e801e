#include <gtest/gtest.h>

#include "base/strings.h"
#include "kernels/cpu/reduce/reduce.h"
#include "runtime/bind/kernel_cases.h"

namespace tern {
namespace {

TEST(Kernels, Softmax) {
  for (const char* kind : {"softmax", "log_softmax"})
    for (const char* rest :
         {"} : f32[7]", "} : f32[5,133]", ",axis=0} : f32[5,133]", ",axis=1} : f32[3,17,300]",
          ",axis=1} : f16[3,4,5]", "} : bf16[3,40]", "} : f32[0,3]", ",axis=0} : f32[0,3]", "} : f32[40]~",
          ",axis=0} : f32[40,2]~", "} : f32[9,1]"})
      CheckKernels({StrCat("Softmax {kind=\"", kind, "\"", rest).c_str()});
}

TEST(Kernels, Reduce) {
  for (const char* kind : cpu::kReduceNames) {
    for (const char* rest :
         {"} : f32[5,33]+ i64[1]=(1)", "} : f32[5,33]+ i64[1]=(0)", "} : f32[2,3,4,5]+ i64[2]=(1,3)",
          "} : f32[2,3,4,5]+ i64[2]=(0,2)", "} : f32[2,3,4,5]+ i64[2]=(-1,-2)", "} : f32[700]+", "} : f32[]+",
          ",keep_dims=false} : f32[4,600]+ i64[1]=(0)", ",noop_if_empty=true} : f32[3,4]+ i64[0]=()",
          "} : f32[3,0,4]+ i64[1]=(1)", "} : f32[40]~", "} : f32[40,3]~ i64[1]=(0)",
          "} : f16[5,6]+ i64[1]=(0)", "} : bf16[5,6]+", "} : f32[1,5,1]+ i64[1]=(0)"})
      CheckKernels({StrCat("Reduce {kind=\"", kind, "\"", rest).c_str()});
    const std::string name = kind;
    if (name != "log_sum_exp")
      CheckKernels({StrCat("Reduce {kind=\"", kind, "\"} : f64[5,33]+ i64[1]=(0)").c_str()});
    if (name == "mean" || name == "l2" || name == "log_sum" || name == "log_sum_exp") continue;
    for (const char* type : {"i8", "u8", "i32", "i64"})
      CheckKernels({StrCat("Reduce {kind=\"", kind, "\"} : ", type, "[5,33] i64[1]=(1)").c_str(),
                    StrCat("Reduce {kind=\"", kind, "\"} : ", type, "[5,33] i64[1]=(0)").c_str(),
                    StrCat("Reduce {kind=\"", kind, "\"} : ", type, "[5,0]").c_str()});
  }
  CheckKernels({"Reduce {kind=\"max\"} : bool[5,6] i64[1]=(0)",
                "Reduce {kind=\"min\"} : bool[5,6] i64[1]=(1)", "Reduce {kind=\"max\"} : bool[0]"});
}

TEST(Kernels, ArgReduce) {
  CheckKernels({"f32", "f64", "f16", "i32", "i64", "i8", "u8", "bool"},
               {"ArgReduce {axis=0} : T[5,300]", "ArgReduce {kind=\"min\",axis=1,keep_dims=false} : T[5,300]",
                "ArgReduce {axis=-2,last=true} : T[3,20,7]",
                "ArgReduce {kind=\"min\",axis=0,last=true} : T[40]", "ArgReduce : T[3,0]"});
  CheckKernels({"ArgReduce : f32[40,1]~", "ArgReduce {kind=\"min\"} : f32[40,1]~"});
}

TEST(Kernels, Norms) {
  CheckKernels(
      {"f32", "f16", "bf16"},
      {"BatchNorm : T[2,3,4,5] T[3] T[3] T[3] T[3]+", "BatchNorm : T[2,3] T[3] T[3] T[3] T[3]+",
       "BatchNorm : T[7] T[1] T[1] T[1] T[1]+", "InstanceNorm : T[2,3,4,5] T[3] T[3]",
       "GroupNorm {groups=2} : T[2,4,3,7] T[4] T[4]", "GroupNorm {groups=3} : T[2,6] T[6] T[6]",
       "LayerNorm : T[3,40] T[40] T[40]", "LayerNorm : T[3,40]", "LayerNorm {axis=1} : T[3,4,5] T[4,5]",
       "LayerNorm {axis=0} : T[3,4] T[3,4] T[3,4]", "LayerNorm : T[3,40] _ T[1,40]",
       "RmsNorm : T[3,40] T[40]", "RmsNorm {axis=-2} : T[3,4,5] T[4,5]", "RmsNorm : T[0,5] T[5]"});
  CheckKernels({"LayerNorm : f32[2,3,50] f32[50] f32[50] -> 3",
                "LayerNorm : f16[2,3,50] f16[50] f16[50] -> 3", "LayerNorm : f32[70,9000] f32[9000]",
                "InstanceNorm : f32[0,3,4] f32[3] f32[3]"});
}

TEST(Kernels, Pool) {
  for (const char* kind : {"max", "average"}) {
    const std::string op = StrCat("Pool {kind=\"", kind, "\",");
    for (const char* rest :
         {"kernel=[2,2],strides=[2,2]} : f32[2,3,8,9]",
          "kernel=[3,3],strides=[2,2],pads=[1,1,1,1]} : f32[1,2,35,37]",
          "kernel=[3,3],strides=[2,2],ceil_mode=true} : f32[1,2,8,10]",
          "kernel=[3,2],strides=[2,3],pads=[1,0,2,1],ceil_mode=true} : f32[1,2,9,9]",
          "kernel=[3,3],dilations=[2,2],pads=[1,1,1,1]} : f32[1,2,9,9]",
          "kernel=[3],pads=[2,1]} : f32[2,2,7]", "kernel=[2,3,2],strides=[1,2,1]} : f32[1,2,4,5,6]",
          "kernel=[3,3],auto_pad=\"same_upper\",strides=[2,2]} : f32[1,2,8,9]",
          "kernel=[2,2],auto_pad=\"same_lower\"} : f32[1,2,5,5]", "kernel=[2,2]} : f16[1,2,5,5]",
          "kernel=[2,3],strides=[1,2]} : f32[1,1,3,5000]", "kernel=[3,3]} : f32[1,1,7,7]~"})
      CheckKernels({(op + rest).c_str(), (op + "count_include_pad=true," + rest).c_str()});
    CheckKernels({"f32[2,3,4,5]", "f32[2,3]", "f16[2,3,7]", "bf16[1,2,3,4,5]"},
                 {StrCat("GlobalPool {kind=\"", kind, "\"} : T").c_str()});
  }
  CheckKernels({"i8", "u8", "i16", "u16", "f64", "bf16"},
               {"Pool {kind=\"max\",kernel=[3,3],strides=[2,1],pads=[1,1,1,1]} : T[1,2,9,8]"});
}

}  // namespace
}  // namespace tern
