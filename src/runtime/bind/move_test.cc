#include <gtest/gtest.h>

#include "runtime/bind/kernel_cases.h"

namespace tern {
namespace {

constexpr std::initializer_list<const char*> kWidths = {"bool", "i8", "f16", "f32", "f64"};

TEST(Kernels, Transpose) {
  CheckKernels(
      kWidths,
      {"Transpose : T[3,5]", "Transpose {perm=[0,2,1]} : T[2,37,41]", "Transpose {perm=[1,0,2]} : T[4,5,6]",
       "Transpose {perm=[0,2,3,1]} : T[2,3,7,5]", "Transpose {perm=[3,1,0,2]} : T[2,3,4,5]",
       "Transpose {perm=[0,3,1,2]} : T[2,70,30,3]", "Transpose {perm=[1,0]} : T[0,4]", "Transpose : T[]",
       "Transpose {perm=[2,0,1,4,3]} : T[2,3,4,5,6]", "Transpose : T[1,7,1]",
       "Transpose {perm=[0,2,3,1]} : T[2,64,32,32]", "Transpose {perm=[0,3,1,2]} : T[2,33,31,70]",
       "Transpose {perm=[0,2,1,3]} : T[2,9,70,4]", "Transpose {perm=[0,2,3,1]} : T[2,0,3,5]"});
  CheckKernels({"Transpose {perm=[0,2,1,3]} : f32[2,64,12,64]", "Transpose : f32[300,200]"});
}

TEST(Kernels, Blocks) {
  CheckKernels(kWidths, {"SpaceToDepth {block=2} : T[2,3,4,6]", "DepthToSpace {block=2} : T[2,12,3,4]",
                         "DepthToSpace {block=3,mode=\"CRD\"} : T[1,18,3,4]"});
}

TEST(Kernels, ConcatAndSplit) {
  CheckKernels(kWidths, {"Concat {axis=1} : T[2,3,4] T[2,1,4] T[2,0,4]", "Concat {axis=-1} : T[2,3] T[2,5]",
                         "Concat {axis=0} : T[2,3] T[1,3]", "Concat {axis=2} : T[2,3,1] T[2,3,1]",
                         "Split {axis=1} : T[2,7,3] i64[3]=(2,4,1) -> 3",
                         "Split {axis=-1,num_outputs=3} : T[2,7] -> 3", "Split {axis=0} : T[4,3] -> 2"});
  CheckKernels({"Concat {axis=1} : f32[3,70000] f32[3,20]"});
}

TEST(Kernels, Slice) {
  CheckKernels(kWidths, {"Slice : T[7,5] i64[2]=(1,0) i64[2]=(6,3)",
                         "Slice : T[7,5] i64[1]=(-2) i64[1]=(-9) i64[1]=(1) i64[1]=(-1)",
                         "Slice : T[7,50] i64[1]=(3) i64[1]=(1000) i64[1]=(-1) i64[1]=(3)",
                         "Slice : T[7,5] i32[1]=(4) i32[1]=(2)",
                         "Slice : T[3,4,5,6] i64[2]=(1,5) i64[2]=(3,0) i64[2]=(1,3) i64[2]=(1,-2)",
                         "Slice : T[9] i64[1]=(-100) i64[1]=(100)"});
  CheckKernels({"Slice : f32[2,70000] i64[1]=(1) i64[1]=(69000) i64[1]=(1)",
                "Slice : f32[70000] i64[1]=(0) i64[1]=(70000) _ i64[1]=(2)",
                "Slice : f32[65536,2] i64[1]=(0) i64[1]=(1) i64[1]=(1)"});
}

TEST(Kernels, ExpandTilePadFill) {
  CheckKernels(
      kWidths,
      {"Expand : T[3,1] i64[3]=(2,3,4)", "Expand : T[] i64[2]=(3,4)", "Expand : T[3,1] i64[3]=(0,1,4)",
       "Expand : T[2,1,5] i64[3]=(2,3,1)", "Tile : T[2,3] i64[2]=(2,3)", "Tile : T[2,1,3] i64[3]=(1,4,1)",
       "Tile : T[2] i64[1]=(0)", "Pad : T[3,4] i64[4]=(1,2,0,1)", "Pad : T[3,4] i64[4]=(-1,2,0,-2) T[]=(1)",
       "Pad : T[3,4] i64[2]=(1,2) T[]=(1) i64[1]=(-1)", "Pad {mode=\"reflect\"} : T[3,4] i64[4]=(2,1,1,3)",
       "Pad {mode=\"edge\"} : T[3,4] i64[4]=(2,0,1,3)", "Pad {mode=\"wrap\"} : T[3,4] i64[4]=(2,5,1,3)",
       "Pad {mode=\"edge\"} : T[5,4] i64[4]=(-1,1,-2,0)", "Trilu : T[2,4,5]",
       "Trilu {upper=false} : T[5,4] i64[]=(1)", "Trilu : T[4,4] i64[]=(-2)",
       "Trilu {upper=false} : T[3,4] i64[]=(-9)"});
}

TEST(Kernels, Gathers) {
  CheckKernels(kWidths,
               {"Gather : T[5,3] i64[4]<5", "Gather {axis=1} : T[5,7,3] i32[2,2]<7",
                "Gather {axis=-1} : T[5,7] i64[]<7", "Gather : T[5] i64[300]<5", "Gather : T[5,3] i64[0]<5",
                "GatherElements {axis=1} : T[4,5] i64[3,7]<5", "GatherElements : T[4,5] i32[6,2]<4",
                "GatherElements {axis=-1} : T[2,3,4] i64[2,3,2]<4", "GatherND : T[4,4,3] i64[5,2]<4",
                "GatherND {batch_dims=1} : T[2,5,3] i64[2,4,1]<5", "GatherND : T[4,4] i32[2,3,2]<4",
                "GatherND {batch_dims=1} : T[3,4] i64[3,1]<4", "GatherND : T[5,6] i64[0,1]<5"});
}

TEST(Kernels, Scatters) {
  CheckKernels(kWidths, {"ScatterND : T[6,3] i64[3,1]=(4,-6,1) T[3,3]",
                         "ScatterND : T[4,5] i32[2,2]=(1,2,3,-1) T[2]", "ScatterND : T[4,5] i64[0,2]<4 T[0]",
                         "ScatterElements {axis=1} : T[3,5] i64[2,2]=(1,-1,0,3) T[2,2]",
                         "ScatterElements : T[3,5] i32[2,3]=(0,1,2,2,0,1) T[2,3]"});
  for (const char* reduction : {"add", "mul", "min", "max"})
    CheckKernels(
        {"f32", "f64", "i32", "i64"},
        {(std::string("ScatterND {reduction=\"") + reduction + "\"} : T[4,3] i64[9,1]<4 T[9,3]").c_str(),
         (std::string("ScatterElements {reduction=\"") + reduction + "\"} : T[4,3] i64[9,3]<4 T[9,3]")
             .c_str()});
  CheckKernels({"OneHot : i64[4]<5 i64[]=(5) f32[2]", "OneHot {axis=0} : i32[2,3]<9 i64[]=(4) i64[2]",
                "OneHot {axis=1} : i64[2,3]<4 i64[]=(4) bool[2]=(0,1)"});
}

}  // namespace
}  // namespace tern
