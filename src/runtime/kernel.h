// The seam between plans and kernels. A kernel is one way to compute one op; tables of them are filled by the
// TERN_KERNELS functions in runtime/bind, which tie ops and their attributes to the plain functions of
// src/kernels.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "core/datum.h"
#include "ir/op_def.h"

namespace tern {

// A tensor before its data: kInvalid for an input that is absent (or not a tensor).
struct TensorInfo {
  DType dtype = DType::kInvalid;
  Dims dims;
};

// What a query says about the node's operands and results; see KernelQuery.
struct KernelOperands {
  std::vector<TensorInfo> inputs, outputs;
  std::vector<const Tensor*> known;
  std::vector<bool> weight;
  // The numbers are whole and their sums must come out exact as far as f32 holds them: nothing for a kernel
  // that multiplies them by fractions on the way, as fast convolutions (Winograd) do.
  bool whole = false;
  // Products with weights may round their operands to bf16.
  bool bf16 = false;
};

// One node with concrete shapes: what selection and Resize look at.
// Weight: a constant of the model (or computed from constants only), the same in every plan.
// Known: data that is there before the run: weights, results of shape computations for these input shapes,
// and, in a step whose shapes depend on data (resized in every run), the data itself. So every input that the
// output's *shape* depends on is Known in Resize; any other must be read in Run.
class KernelQuery : public KernelOperands {
 public:
  KernelQuery(const OpDef& op, const Attrs& attrs) : op_(op), attrs_(attrs) {}
  KernelQuery(const OpDef& op, const Attrs& attrs, const KernelOperands& operands)
      : KernelOperands(operands), op_(op), attrs_(attrs) {}

  const OpDef& op() const { return op_; }
  const Attrs& attrs() const { return attrs_; }
  int InputCount() const { return static_cast<int>(inputs.size()); }
  int OutputCount() const { return static_cast<int>(outputs.size()); }
  bool Has(int i) const { return InType(i) != DType::kInvalid; }
  DType InType(int i) const {
    return i < InputCount() ? inputs[static_cast<size_t>(i)].dtype : DType::kInvalid;
  }
  const Dims& InDims(int i) const { return inputs[static_cast<size_t>(i)].dims; }
  int InRank(int i) const { return static_cast<int>(InDims(i).size()); }
  DType OutType(int i) const {
    return i < OutputCount() ? outputs[static_cast<size_t>(i)].dtype : DType::kInvalid;
  }
  const Dims& OutDims(int i) const { return outputs[static_cast<size_t>(i)].dims; }
  const Tensor* Known(int i) const { return i < InputCount() ? known[static_cast<size_t>(i)] : nullptr; }
  bool IsWeight(int i) const { return i < InputCount() && weight[static_cast<size_t>(i)]; }
  // All inputs that are there, and all outputs, have this type.
  bool AllTypes(DType t) const;

 private:
  const OpDef& op_;
  const Attrs& attrs_;
};

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
    int64_t apart = 0;
  };
  ResizeContext(const KernelQuery& query, int threads) : query_(query), threads_(threads) {}
  ResizeContext(const KernelQuery& query, int threads, const Placement& result)
      : query_(query), threads_(threads), result_(result) {}
  const KernelQuery* operator->() const { return &query_; }
  const KernelQuery& query() const { return query_; }
  int threads() const { return threads_; }  // the workers that Run will see
  // Output 0 in Run is that of the step after this one, whose work is to be done too: KernelEntry::absorbs
  // agreed. The query's outputs have the dims of what lies between them all the same.
  bool with_next() const { return result_.with_next; }
  // Elements from one row of output 0, along the last axis, to the next where other values lie between them:
  // KernelEntry::rows_apart agreed. 0: rows are neighbours.
  int64_t apart() const { return result_.apart; }
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

// Made by the table's factory and prepared once; each plan works on a copy, which is resized for its shapes.
// So packed weights belong into Tensors or shared_ptrs (copies share), and what Resize finds into plain
// members.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status Prepare(PrepareContext&) { return {}; }
  virtual Status Resize(ResizeContext&) { return {}; }
  virtual Status Run(RunContext& c) = 0;  // no allocation, no lock, no exception
  virtual std::unique_ptr<Kernel> Clone() const = 0;
};

// class Relu : public KernelOf<Relu> { … };
template <class T> class KernelOf : public Kernel {
 public:
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<T>(static_cast<const T&>(*this)); }
};

// Counts of what a run has to do. The rates of the algorithm for each instruction set turn them into time
// (runtime/cost_rates.inc).
struct Work {
  const char* algorithm = "move";  // a line of cost_rates.inc; any other fails a check
  double products = 0;             // multiply-adds, those in the padding of vectors and tiles included
  double weights = 0;              // bytes of weights
  double moved = 0;                // bytes of other operands and of results
  double transformed = 0;          // elements that are copied, rounded or transformed on the way
};

struct KernelEntry {
  std::string op;
  std::string name;                               // "cpu.conv.depthwise.f32": in profiles and reports
  std::function<bool(const KernelQuery&)> legal;  // types, ranks, attributes, which inputs are weights
  std::function<std::unique_ptr<Kernel>()> make;
  // Among legal ones the quickest wins, then the first. Time is estimated in microseconds on one thread of
  // the processor that the rates of cost_rates.inc were found on, held to the instruction set that is active
  // here, not of the machine at hand: that of work_of; else cost_of; else `cost` times what moving all
  // operands once takes.
  double cost = 1;
  std::function<double(const KernelQuery&)> cost_of;
  // Output 0 may overwrite an input of the same type and dims. Honoured for ops with the trait kInPlace only.
  bool in_place = true;
  std::function<std::vector<Work>(const KernelQuery&)> work_of;
  // Of a query that is not legal: the reason, for people. Null, or an empty text: not told.
  std::function<std::string(const KernelQuery&)> why_not;
  // How weights are laid out that the kernel packs. Kernels of an op with the same one pack the same bytes
  // for the same attributes, once for all of them. Empty: weights are read as they are.
  std::string pack;
  // Which operands, inputs by number or kResult, may lie in memory as bf16 where the query says f32; null:
  // none. In Resize their type is bf16 then. Asked with types as the graph has them.
  static constexpr int kResult = -1;
  std::function<bool(const KernelQuery&, int operand)> narrow;
  // Whether the kernel can do the work of the node that alone reads its result as well, and never write that
  // result; null: of none. See ResizeContext::with_next.
  std::function<bool(const KernelQuery& own, const KernelQuery& next)> absorbs;
  // Whether rows of output 0 may lie apart, as parts of a larger value's rows (a Concat along the last
  // axis); null: never. See ResizeContext::apart.
  std::function<bool(const KernelQuery&)> rows_apart;
};

// What a legal kernel is estimated to take, see KernelEntry.
double EstimatedMicroseconds(const KernelEntry& entry, const KernelQuery& query);
double Microseconds(const Work& work);

// KernelEntry::pack of kernels that have a kPack.
template <class T> std::string PackOf() {
  if constexpr (requires { T::kPack; })
    return T::kPack;
  else
    return {};
}

class KernelTable {
 public:
  void Add(KernelEntry entry);
  // table.Add<ReluKernel>("Unary", "cpu.relu.f32", [](const KernelQuery& q) { … });
  template <class T>
  void Add(std::string op, std::string name, std::function<bool(const KernelQuery&)> legal, double cost = 1) {
    Add({std::move(op), std::move(name), std::move(legal), [] { return std::make_unique<T>(); }, cost,
         nullptr, true, nullptr, nullptr, PackOf<T>()});
  }
  // The cheapest legal kernel, or null; pack: among those with this one only.
  const KernelEntry* Select(const KernelQuery& query, const std::string* pack = nullptr) const;
  // All kernels of an op in the order of their registration.
  std::vector<const KernelEntry*> Of(std::string_view op) const;

 private:
  std::vector<std::unique_ptr<KernelEntry>> entries_;
  std::vector<std::pair<std::string, std::vector<const KernelEntry*>>> by_op_;  // sorted by name
};

// The CPU's table, filled on first use.
const KernelTable& CpuKernels();

}  // namespace tern

// Defines void TernKernels_Name(KernelTable& table); the build finds these lines.
#define TERN_KERNELS(Name) void TernKernels_##Name(KernelTable& table)
