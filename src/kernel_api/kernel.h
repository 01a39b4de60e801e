// A kernel is one implementation of one op. Code that provides kernels (bindings of hand-written kernels, a
// code generator, a plug-in, a second device) derives from Kernel and adds a KernelEntry to a KernelTable
// (kernel_table.h).
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
