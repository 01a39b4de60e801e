#include <gtest/gtest.h>

#include "base/strings.h"
#include "kernels/cpu/elementwise/kinds.h"
#include "runtime/bind/kernel_cases.h"

namespace tern {
namespace {

TEST(Kernels, Unary) {
  for (int kind = 0; kind <= static_cast<int>(cpu::UnaryKind::kIsNan); ++kind) {
    const std::string name = cpu::kUnaryNames[kind];
    if (name == "not" || name == "bitwise_not") continue;
    for (const char* type : {"f32[37]", "f32[3,40]~", "f32[40]+", "f16[33]~", "bf16[2000]"})
      CheckKernels({StrCat("Unary {kind=\"", name, "\"} : ", type).c_str()});
  }
  CheckKernels({"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"},
               {"Unary {kind=\"abs\"} : T[37]", "Unary {kind=\"neg\"} : T[5]", "Unary {kind=\"sign\"} : T[5]",
                "Unary {kind=\"relu\"} : T[5]", "Unary {kind=\"bitwise_not\"} : T[5]"});
  CheckKernels({"Unary {kind=\"not\"} : bool[9]", "Unary {kind=\"relu\"} : f32[0,3]",
                "Unary {kind=\"exp\"} : f32[]", "Unary {kind=\"isnan\"} : f64[9]~",
                "Unary {kind=\"tanh\"} : f32[7,9973]"});
}

TEST(Kernels, Activation) {
  CheckKernels(
      {"f32[40]~", "f32[77]", "f16[20]", "bf16[21]"},
      {"Activation {kind=\"leaky_relu\",alpha=0.1} : T", "Activation {kind=\"elu\",alpha=1.5} : T",
       "Activation {kind=\"selu\",alpha=1.67,beta=1.05} : T", "Activation {kind=\"celu\",alpha=0.7} : T",
       "Activation {kind=\"hard_sigmoid\",alpha=0.2,beta=0.5} : T",
       "Activation {kind=\"thresholded_relu\",alpha=0.5} : T", "Activation {kind=\"swish\",alpha=1.2} : T",
       "Activation {kind=\"shrink\",alpha=0.5,beta=0.2} : T",
       "Activation {kind=\"affine\",alpha=0.5,beta=-2} : T", "Gelu : T", "Gelu {approximate=\"tanh\"} : T"});
}

TEST(Kernels, Binary) {
  for (const char* kind : {"add", "sub", "mul", "div", "pow", "mod", "fmod", "min", "max", "prelu", "equal",
                           "less", "less_equal", "greater", "greater_equal"})
    for (const char* type :
         {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
      const std::string op = StrCat("Binary {kind=\"", kind, "\"} : ", type, "[3,37] ", type);
      CheckKernels(
          {(op + "[3,37]").c_str(), (op + "[37]").c_str(), (op + "[3,1]").c_str(), (op + "[]").c_str()});
    }
  for (const char* kind : {"bit_and", "bit_or", "bit_xor", "shift_left", "shift_right"})
    CheckKernels({"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"},
                 {StrCat("Binary {kind=\"", kind, "\"} : T[67] T[67]").c_str()});
  CheckKernels({"and", "or", "xor", "equal"}, {"Binary {kind=\"T\"} : bool[4,1,3] bool[5,1]"});
  CheckKernels({
      "Binary {kind=\"add\"} : f32[1] f32[4,5]",
      "Binary {kind=\"sub\"} : f32[4,1,6,1] f32[1,5,1,7]",
      "Binary {kind=\"div\"} : f32[2,3,4,5] f32[3,1,5]",
      "Binary {kind=\"mul\"} : f32[2,3,1,1] f32[2,3,40,41]",
      "Binary {kind=\"max\"} : f32[40]~ f32[40]",
      "Binary {kind=\"min\"} : f32[40] f32[40]~",
      "Binary {kind=\"add\"} : f32[0,3] f32[3]",
      "Binary {kind=\"add\"} : f32[1,3] f32[0,1]",
      "Binary {kind=\"pow\"} : f32[40]~ f32[]=(2)",
      "Binary {kind=\"pow\"} : f32[40]~ f32[]=(0.5)",
      "Binary {kind=\"pow\"} : f32[40]~ f32[]=(-1)",
      "Binary {kind=\"pow\"} : f32[40] f32[]=(3)",
      "Binary {kind=\"pow\"} : f32[40]+ f32[40]",
      "Binary {kind=\"less\"} : f32[7,9973] f32[]=(0)",
      "Binary {kind=\"equal\"} : i64[3,5,7] i64[5,1]",
  });
}

TEST(Kernels, Eltwise) {
  for (const char* kind : {"sum", "prod", "max", "min"})
    for (const char* type :
         {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
      const std::string op = StrCat("Eltwise {kind=\"", kind, "\"} : ", type), next = StrCat(" ", type);
      CheckKernels({(op + "[37]").c_str(), (op + "[3,37]" + next + "[37]").c_str(),
                    (op + "[5,7]" + next + "[5,7]" + next + "[5,7]").c_str(),
                    (op + "[]" + next + "[2,1,7]" + next + "[3,1]" + next + "[2,3,7]").c_str()});
    }
  CheckKernels({"f32", "f64", "f16", "bf16"},
               {"Eltwise {coefficients=[0.5,1,-2]} : T[7,9] T[7,9] T[7,9]",
                "Eltwise {coefficients=[3]} : T[70]~", "Eltwise {coefficients=[1,0.25]} : T[1] T[70]",
                "Eltwise {coefficients=[1,1,1]} : T[2,1,3000] T[1,2,3000] T[3000]",
                "Eltwise {kind=\"max\"} : T[40]~ T[40] T[40]", "Eltwise {kind=\"min\"} : T[40] T[40]~ T[40]",
                "Eltwise : T[0,3] T[3] T[1,1]"});
  CheckKernels({"Eltwise : f32[7,9973] f32[7,9973] f32[7,1] f32[9973]",
                "Eltwise {kind=\"prod\"} : f32[2,3,4,5] f32[3,1,5] f32[4,1] f32[2,1,1,1]"});
}

TEST(Kernels, Scale) {
  CheckKernels({"f32", "f16", "bf16"},
               {"Scale : T[2,3,4,5] T[3] T[3]", "Scale : T[2,3,40] T[3]",
                "Scale {axis=-1} : T[5,37] T[37] T[37]", "Scale {axis=0} : T[9] T[9]",
                "Scale {axis=0} : T[9,2] T[9] T[9]", "Scale : T[0,3,2] T[3] T[3]", "Scale : T[2,0,2] T[0]",
                "Scale {axis=2} : T[2,3,40]~ T[40] T[40]", "Scale : T[9,700,33] T[700] T[700]"});
}

TEST(Kernels, WhereClipCast) {
  CheckKernels(
      {"bool", "i8", "i16", "f16", "f32", "i64"},
      {"Where : bool[3,7] T[3,7] T[3,7]", "Where : bool[7] T[3,1] T[]", "Where : bool[3,1] T[7] T[3,7]",
       "Where : bool[] T[7] T[3,1]", "Where : bool[2,1,3] T[4,1] T[2,4,3]"});
  CheckKernels(
      {"f32", "f64", "f16", "bf16", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"},
      {"Clip : T[37] T[]=(1) T[]=(3)", "Clip : T[37] _ T[1]=(1)", "Clip : T[37] T[]=(1)", "Clip : T[37]"});
  CheckKernels({"Clip : f32[40]~ f32[]=(-1) f32[]=(1)", "Clip : f32[40]~ f32[]=(1) f32[]=(-1)"});
  for (const char* to :
       {"f32", "f64", "f16", "bf16", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"})
    for (const char* from :
         {"f32", "f64", "f16", "bf16", "bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
      const bool to_half = std::string(to) == "f16" || std::string(to) == "bf16";
      const std::string f = from;
      if (f != to &&
          (to_half &&
           (f == "f64" || f.find("32", 1) != std::string::npos || f.find("64", 1) != std::string::npos) &&
           f != "f32"))
        continue;
      CheckKernels({StrCat("Cast {to=", to, "} : ", from, "[41]").c_str()});
    }
  CheckKernels({"Cast {to=i64} : f32[40]~", "Cast {to=i32} : f32[40]~", "Cast {to=u8} : f32[40]~",
                "Cast {to=f16} : f32[40]~", "Cast {to=bf16} : f32[40]~", "Cast {to=bool} : f32[40]~",
                "Cast {to=f32} : f16[40]~"});
}

}  // namespace
}  // namespace tern
