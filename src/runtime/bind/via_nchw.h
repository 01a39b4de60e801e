// A kernel for channels_last made from one for [N, C, spatial…]: operands are transposed into scratch memory,
// and the result back. The way for what has no kernel of its own in that order.
#pragma once
#include "kernel_api/kernel_table.h"
#include "kernels/cpu/move/copy.h"
#include "runtime/bind/via_f32.h"
#include "runtime/bind/window_shape.h"

namespace tern {

// The same query in [N, C, spatial…]: x, y, and the residual where the op has one.
struct FirstQuery {
  explicit FirstQuery(const KernelQuery& own);
  FirstQuery(const FirstQuery&) = delete;
  Attrs attrs;
  KernelQuery query;
};

// Work and what transposing adds to it.
std::vector<Work> WithTransposing(const KernelQuery& query, std::vector<Work> work);

class ViaNchwKernel : public AdapterKernel {
 public:
  explicit ViaNchwKernel(std::unique_ptr<Kernel> inner) : AdapterKernel(std::move(inner)) {}
  Status Resize(ResizeContext& c) override;
  Status Run(RunContext& c) override;
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<ViaNchwKernel>(*this); }

 private:
  // A tensor in the other order.
  struct Transposed {
    AdaptedTensor adapted;
    cpu::StridedCopy copy;  // between it and what it stands for
  };
  static Transposed MakeTransposed(int index, const TensorInfo& first, bool is_input, size_t& bytes);

  std::vector<Transposed> inputs_;
  Transposed output_;
};

template <class T> class ViaNchw : public ViaNchwKernel {
 public:
  ViaNchw() : ViaNchwKernel(std::make_unique<T>()) {}
  static bool Legal(const KernelQuery& q) { return OrderedLast(q) && T::Legal(FirstQuery(q).query); }
  static std::vector<Work> WorkOf(const KernelQuery& q) requires requires { &T::WorkOf; }
  { return WithTransposing(q, T::WorkOf(FirstQuery(q).query)); }
  static std::string WhyNot(const KernelQuery& q) requires requires { &T::WhyNot; }
  { return OrderedLast(q) ? T::WhyNot(FirstQuery(q).query) : "needs channels last"; }
};

// T, which must refuse channels_last, with 16-bit floats and with channels_last.
template <class T>
void AddWithLayouts(KernelTable& table, const std::string& op, const std::string& name, double cost = 1) {
  constexpr double kTransposing = 20;  // without T::WorkOf: any kernel for the order itself is better
  AddWithHalf<T>(table, op, name, cost);
  AddWithHalf<ViaNchw<T>>(table, op, name + ".via_nchw", kTransposing * cost);
}

}  // namespace tern
