#include "import/torch/script/globals.h"

#include <array>

#include "base/strings.h"

namespace tern::torch::script {
namespace {

struct GlobalRow {
  std::string_view module, name;
  Global kind;
};

constexpr std::array kGlobals = {
    GlobalRow{"torch._utils", "_rebuild_tensor_v2", Global::kRebuildTensor},
    GlobalRow{"torch._utils", "_rebuild_tensor", Global::kRebuildTensor},
    GlobalRow{"torch._utils", "_rebuild_tensor_v3", Global::kRebuildTensorV3},
    GlobalRow{"torch._utils", "_rebuild_parameter", Global::kFirstArgument},
    GlobalRow{"torch._utils", "_rebuild_parameter_with_state", Global::kFirstArgument},
    GlobalRow{"torch._utils", "_rebuild_qtensor", Global::kUnsupported},
    GlobalRow{"torch._utils", "_rebuild_sparse_tensor", Global::kUnsupported},
    GlobalRow{"torch._utils", "_rebuild_meta_tensor_no_storage", Global::kUnsupported},
    GlobalRow{"torch.jit._pickle", "restore_type_tag", Global::kFirstArgument},
    GlobalRow{"torch.jit._pickle", "build_intlist", Global::kFirstArgument},
    GlobalRow{"torch.jit._pickle", "build_tensorlist", Global::kFirstArgument},
    GlobalRow{"torch.jit._pickle", "build_doublelist", Global::kFirstArgument},
    GlobalRow{"torch.jit._pickle", "build_boollist", Global::kFirstArgument},
    GlobalRow{"torch.nn.parameter", "Parameter", Global::kFirstArgument},
    GlobalRow{"collections", "OrderedDict", Global::kOrderedDict},
    GlobalRow{"torch", "device", Global::kDevice},
    GlobalRow{"torch", "Size", Global::kSize},
    GlobalRow{"builtins", "complex", Global::kUnsupported},
    GlobalRow{"__builtin__", "complex", Global::kUnsupported},
};

struct TypeRow {
  std::string_view storage, name;
  DType dtype;
};

constexpr std::array kTypes = {
    TypeRow{"FloatStorage", "float32", DType::kF32},
    TypeRow{"DoubleStorage", "float64", DType::kF64},
    TypeRow{"HalfStorage", "float16", DType::kF16},
    TypeRow{"BFloat16Storage", "bfloat16", DType::kBF16},
    TypeRow{"LongStorage", "int64", DType::kI64},
    TypeRow{"IntStorage", "int32", DType::kI32},
    TypeRow{"ShortStorage", "int16", DType::kI16},
    TypeRow{"CharStorage", "int8", DType::kI8},
    TypeRow{"ByteStorage", "uint8", DType::kU8},
    TypeRow{"BoolStorage", "bool", DType::kBool},
    TypeRow{"UInt16Storage", "uint16", DType::kU16},
    TypeRow{"UInt32Storage", "uint32", DType::kU32},
    TypeRow{"UInt64Storage", "uint64", DType::kU64},
    TypeRow{"Float8_e4m3fnStorage", "float8_e4m3fn", DType::kF8E4M3FN},
    TypeRow{"Float8_e5m2Storage", "float8_e5m2", DType::kF8E5M2},
};

}  // namespace

GlobalInfo LookUpGlobal(std::string_view module, std::string_view name) {
  if (module == "__torch__" || StartsWith(module, "__torch__.")) return {Global::kClass};
  for (const GlobalRow& row : kGlobals)
    if (row.module == module && row.name == name) return {row.kind};
  if (module == "torch.storage" && name == "UntypedStorage") return {Global::kStorage, DType::kU8};
  if (module != "torch" && module != "torch.storage") return {};
  for (const TypeRow& row : kTypes) {
    if (row.storage == name) return {Global::kStorage, row.dtype};
    if (row.name == name) return {Global::kDType, row.dtype};
  }
  if (EndsWith(name, "Storage")) return {Global::kUnsupported};
  return {};
}

}  // namespace tern::torch::script
