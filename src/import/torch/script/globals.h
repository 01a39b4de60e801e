// The classes and functions that a pickle may name.
#pragma once
#include <string_view>

#include "base/dtype.h"

namespace tern::torch::script {

enum class Global {
  kForbidden,
  kClass,          // __torch__.…: a class of the model
  kRebuildTensor,  // (storage, offset, dims, strides, …)
  kRebuildTensorV3,
  kFirstArgument,  // returns its first argument
  kOrderedDict,
  kDevice,
  kSize,
  kStorage,      // a type of storage
  kDType,        // an element type
  kUnsupported,  // harmless, but Tern has no such data
};

struct GlobalInfo {
  Global kind = Global::kForbidden;
  DType dtype = DType::kInvalid;  // of kStorage and kDType
};

GlobalInfo LookUpGlobal(std::string_view module, std::string_view name);

}  // namespace tern::torch::script
