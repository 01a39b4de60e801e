// What the three calls of a kernel are given: Prepare once per weights, Resize once per shapes, Run many
// times.
#pragma once
#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "kernel_api/query.h"

namespace tern {

// Once per node and model. What is packed here is shared by all plans and all clones of a session.
class PrepareContext {
 public:
  // Where packed weights come from and go to, by the inputs they are made from. Each Find is followed by the
  // Keep of the same inputs, unless packing them fails.
  class Store {
   public:
    virtual ~Store() = default;
    // Undefined: there is none. Where somebody else packs the same, it is waited for.
    virtual Result<Tensor> Find(const std::vector<int>& inputs) = 0;
    virtual void Keep(const std::vector<int>& inputs, const Tensor& packed) = 0;
  };
  PrepareContext(const KernelQuery& query, const Workers& workers, size_t& packed_bytes,
                 Store* store = nullptr)
      : query_(query), workers_(workers), packed_bytes_(packed_bytes), store_(store) {}
  const Workers& workers() const { return workers_; }
  const Attrs& attrs() const { return query_.attrs(); }
  int InputCount() const { return query_.InputCount(); }
  bool Has(int i) const { return query_.Has(i); }
  DType InType(int i) const { return query_.InType(i); }
  DType OutType(int i) const { return query_.OutType(i); }
  // Null unless the input is a weight. May lie in a mapped file: read it no more than needed, never write.
  const Tensor* Weight(int i) const { return query_.IsWeight(i) ? query_.Known(i) : nullptr; }
  // The kernel has its own copy of weight i and never reads it again: the weight may leave memory when all
  // its readers say so. From then on the node has no kernels but those of the same `pack`, so this one must
  // be legal whatever the dims of inputs that are no weights become.
  void Finished(int i);
  const std::vector<int>& finished() const { return finished_; }
  // Weights as this kernel wants them: from the model's file where that has them, else what `fill` writes,
  // which depends on the attributes and on all of `inputs`, and on nothing else. The kernel never reads these
  // weights again, as with Finished. Fails where they have left memory and nothing was packed from them.
  Result<Tensor> Packed(const std::vector<int>& inputs, DType dtype, const Dims& dims,
                        const std::function<void(Tensor& to)>& fill);
  // Memory for packed weights, counted in the session's memory report.
  Tensor AllocateWeights(DType dtype, const Dims& dims);

 private:
  const KernelQuery& query_;
  const Workers& workers_;
  size_t& packed_bytes_;
  Store* store_;
  std::vector<int> finished_;
};

// Once per shapes: choose tiles, ask for scratch memory.
class ResizeContext {
 public:
  // What a plan may make of output 0, where the kernel's entry permits it.
  struct Placement {
    bool with_next = false;
    int64_t row_stride = 0;
    int64_t state_capacity = 0;
  };
  ResizeContext(const KernelQuery& query, int threads) : query_(query), threads_(threads) {}
  ResizeContext(const KernelQuery& query, int threads, const Placement& result)
      : query_(query), threads_(threads), result_(result) {}
  const KernelQuery* operator->() const { return &query_; }
  const KernelQuery& query() const { return query_; }
  int threads() const { return threads_; }  // the workers that Run will see
  // Output 0 in Run is that of the step after this one, whose work is to be done too:
  // KernelAbilities::fuses_next agreed. The query's outputs have the dims of what lies between them all the
  // same.
  bool with_next() const { return result_.with_next; }
  // Elements from one row of output 0, along the last axis, to the next where other values lie between them:
  // KernelAbilities::row_stride agreed. 0: rows are neighbours.
  int64_t row_stride() const { return result_.row_stride; }
  // The plan lets the kernel work in place on a state: past and present share one buffer with room for this
  // many positions along the axis that grows, of which the first ones are the past.
  // KernelAbilities::state_in_place agreed. 0: past and present are values of their own.
  int64_t state_capacity() const { return result_.state_capacity; }
  // Bytes that Run finds under scratch(), 64-byte aligned, with arbitrary contents.
  void SetScratch(size_t bytes) { scratch_ = bytes; }
  size_t scratch() const { return scratch_; }

 private:
  const KernelQuery& query_;
  int threads_;
  Placement result_;
  size_t scratch_ = 0;
};

// Tensors here are contiguous, row-major, of the dims that Resize saw. Outputs are not zeroed. Inputs are
// aligned to their element size, no more (views and callers' memory).
class RunContext {
 public:
  int InputCount() const { return static_cast<int>(inputs.size()); }
  int OutputCount() const { return static_cast<int>(outputs.size()); }
  bool Has(int i) const { return i < InputCount() && inputs[static_cast<size_t>(i)] != nullptr; }
  const Tensor& In(int i) const { return inputs[static_cast<size_t>(i)]->tensor; }
  template <class T> const T* In(int i) const { return In(i).data<const T>(); }
  const Tensor& Out(int i) const { return outputs[static_cast<size_t>(i)]->tensor; }
  template <class T> T* Out(int i) const { return Out(i).data<T>(); }
  template <class T> T* scratch() const { return static_cast<T*>(scratch_memory); }
  const Workers& workers() const { return *pool; }

  // Filled by the plan.
  std::vector<const Datum*> inputs;  // null where absent
  std::vector<Datum*> outputs;
  void* scratch_memory = nullptr;
  const Workers* pool = nullptr;
};

}  // namespace tern
