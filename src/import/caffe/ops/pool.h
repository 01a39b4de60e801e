// Emits pooling as Caffe defines it.
#pragma once
#include "import/caffe/converter.h"

namespace tern::caffe {

struct PoolParams {
  pb::PoolingParameter::PoolMethod pool = pb::PoolingParameter::MAX;
  Dims kernel, stride, pad;  // height and width
  bool ceil = true;          // round the number of windows up
};

// Emits the pooling of x [N, C, height, width]. If `mask` is not null, it receives the position of each
// maximum in its plane, as f32.
Result<Value*> Pooled(Layer& n, Value* x, const PoolParams& params, Value** mask = nullptr);

}  // namespace tern::caffe
