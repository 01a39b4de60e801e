// Reads the tensors of a MindIR file.
#pragma once
#include <memory>
#include <string>

#include "core/type.h"
#include "import/common/external_files.h"
#include "import/mindir/proto.h"

namespace tern::mindir {

// Returns the type with this number in MindIR's enum TensorProto.DataType.
Result<DType> DTypeFromMindir(int data_type);
// Returns the type with this number in MindSpore's enum TypeId, which nodes use for arguments such as the
// result type of Cast.
Result<DType> DTypeFromTypeId(int64_t id);

// Reads a tensor. `files` provides the data of external tensors; if it is null, external data is an error.
Result<Tensor> TensorFromMindir(const pb::TensorProto& proto, import::ExternalFiles* files);
// Returns a tensor whose data is `bytes`. If `share` is true, the tensor refers to the bytes where their
// alignment permits; otherwise it has a copy.
Result<Tensor> TensorFromBytes(const pb::TensorProto& proto, const Buffer& bytes, bool share);
// Returns a declared type. A dim of -1 is the symbol PREFIX_AXIS, or unknown if `prefix` is empty. The dims
// [-2] mean that the rank is unknown.
Result<Type> TypeFromMindir(const pb::TensorProto& proto, const std::string& prefix);

}  // namespace tern::mindir
