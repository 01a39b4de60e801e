// The arguments of a kernel's three calls: Prepare (once per model), Resize (once per set of shapes) and Run.
#pragma once
#include <functional>
#include <vector>

#include "base/thread_pool.h"
#include "kernel_api/query.h"

namespace tern {

// Argument of Kernel::Prepare, which runs once per node and model. All plans and clones share the weights
// that Prepare packs.
class PrepareContext {
 public:
  // A cache of packed weights. The key is the list of indices of the inputs that were packed. After each
  // Find, the caller must call Put with the same inputs, unless packing fails.
  class Store {
   public:
    virtual ~Store() = default;
    // Returns an undefined tensor if the cache has no entry for `inputs`. Waits while another thread packs
    // the same inputs. Fails with kCancelled if the session is stopped during this wait.
    virtual Result<Tensor> Find(const std::vector<int>& inputs) = 0;
    virtual void Put(const std::vector<int>& inputs, const Tensor& packed) = 0;
  };
  PrepareContext(const KernelQuery& query, const Workers& workers, size_t& packed_bytes,
                 Store* store = nullptr)
      : query_(query), workers_(workers), packed_bytes_(packed_bytes), store_(store) {}
  const Workers& workers() const { return workers_; }
  const Attrs& attrs() const { return query_.attrs(); }
  const std::vector<const Graph*>& subgraphs() const { return query_.subgraphs; }
  int InputCount() const { return query_.InputCount(); }
  bool Has(int i) const { return query_.Has(i); }
  DType InType(int i) const { return query_.InType(i); }
  DType OutType(int i) const { return query_.OutType(i); }
  // Returns null if input i is not a weight. The data may be a mapped file, so a kernel reads only the bytes
  // that it needs and never writes.
  const Tensor* Weight(int i) const { return query_.IsWeight(i) ? query_.Known(i) : nullptr; }
  // Declares that the kernel has its own copy of weight i and never reads the weight again. The model
  // releases the weight when all its readers have declared this. From then on, the node can use only kernels
  // with the same KernelAbilities::pack. A later run with other dims may then have no other kernel, so this
  // kernel must be legal for all dims that the node's other inputs may have. Weights of a node with subgraphs
  // are never released, because other plans may run the nodes of its subgraphs.
  void Finished(int i);
  const std::vector<int>& finished() const { return finished_; }
  // Returns one tensor that contains the weights `inputs` in packed form. If this tensor is in the model's
  // file or in the cache, returns it from there. Otherwise allocates the tensor and calls `fill` to write it.
  // The packed bytes must depend only on the attributes, subgraphs and `inputs`. Calls Finished for each
  // input. Fails if an input was released and no packed tensor exists.
  Result<Tensor> Packed(const std::vector<int>& inputs, DType dtype, const Dims& dims,
                        const std::function<void(Tensor& to)>& fill);
  // Allocates memory for packed weights. The session's memory report counts this memory.
  Tensor AllocateWeights(DType dtype, const Dims& dims);

 private:
  const KernelQuery& query_;
  const Workers& workers_;
  size_t& packed_bytes_;
  Store* store_;
  std::vector<int> finished_;
};

// Argument of Kernel::Resize, which runs once per set of shapes. Resize chooses tile sizes and requests
// scratch memory.
class ResizeContext {
 public:
  // How the plan stores the results. The accessors below explain the fields. The plan changes a field from
  // its default only if the kernel has the matching ability in KernelAbilities.
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
  int threads() const { return threads_; }  // number of workers in Run
  // Whether the kernel also computes the next step (KernelAbilities::fuses_next). Output 0 in Run is then the
  // output of the next step. The query's outputs still have the dims of this node's own output.
  bool with_next() const { return result_.with_next; }
  // Row stride of output 0, in elements (KernelAbilities::row_stride). A row runs along the last axis. 0
  // means that rows are contiguous.
  int64_t row_stride() const { return result_.row_stride; }
  // Capacity of the states that the kernel appends to in place (KernelAbilities::state_in_place), in
  // positions along the growing axis. If it is not 0, the past and the present of a state are the same
  // buffer. Before Run, the first positions of this buffer contain the past. If it is 0, past and present are
  // separate tensors.
  int64_t state_capacity() const { return result_.state_capacity; }
  // Requests scratch memory for Run. The memory is 64-byte aligned and uninitialized.
  void SetScratch(size_t bytes) { scratch_ = bytes; }
  size_t scratch() const { return scratch_; }

 private:
  const KernelQuery& query_;
  int threads_;
  Placement result_;
  size_t scratch_ = 0;
};

// Argument of Kernel::Run. Tensors are contiguous and row-major, with the dims that Resize received, and
// outputs are uninitialized. ResizeContext::Placement and KernelAbilities::in_place describe the exceptions.
// Inputs are aligned only to their element size, because they may be views or callers' memory.
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

  // The plan sets these members.
  std::vector<const Datum*> inputs;  // null for an absent input
  std::vector<Datum*> outputs;
  void* scratch_memory = nullptr;
  const Workers* pool = nullptr;
};

}  // namespace tern
