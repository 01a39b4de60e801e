// A kernel is one implementation of one op. To provide a kernel, derive a class from Kernel and add a
// KernelEntry to a KernelTable (kernel_table.h). Kernels come from bindings of hand-written functions, from a
// code generator, from a plug-in, or from a second device.
#pragma once
#include <memory>

#include "kernel_api/context.h"

namespace tern {

// For each node of a model, KernelEntry::make creates one kernel and its Prepare runs once. Each plan clones
// the kernel and calls Resize on the clone. So a kernel must store packed weights in Tensors or shared_ptrs,
// which clones share, and results of Resize in plain members.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status Prepare(PrepareContext&) { return {}; }
  virtual Status Resize(ResizeContext&) { return {}; }
  virtual Status Run(RunContext& c) = 0;  // must not allocate, lock or throw
  virtual std::unique_ptr<Kernel> Clone() const = 0;
};

// Implements Clone with the copy constructor of T. Usage: class Relu : public KernelOf<Relu> { … };
template <class T> class KernelOf : public Kernel {
 public:
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<T>(static_cast<const T&>(*this)); }
};

}  // namespace tern
