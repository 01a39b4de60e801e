// An adapter that runs a kernel for [N, C, spatial…] on channels-last tensors. It transposes the operands
// into scratch memory, and the result back to channels last. It serves nodes without a channels-last kernel.
#pragma once
#include "kernel_api/kernel_table.h"
#include "kernels/cpu/move/copy.h"
#include "runtime/bind/via_f32.h"
#include "runtime/bind/window_shape.h"

namespace tern {

// The same query with x, y and the residual in [N, C, spatial…].
struct NchwQuery {
  explicit NchwQuery(const KernelQuery& given);
  NchwQuery(const NchwQuery&) = delete;
  Attrs attrs;
  KernelQuery query;
};

// Returns `work` plus the work of the transpositions.
std::vector<Work> WithTransposing(const KernelQuery& query, std::vector<Work> work);

class ViaNchwKernel : public AdapterKernel {
 public:
  explicit ViaNchwKernel(std::unique_ptr<Kernel> inner) : AdapterKernel(std::move(inner)) {}
  Status Resize(ResizeContext& c) override;
  Status Run(RunContext& c) override;
  std::unique_ptr<Kernel> Clone() const override { return std::make_unique<ViaNchwKernel>(*this); }

 private:
  // A transposed copy of an operand, or of the result.
  struct Transposed {
    AdaptedTensor adapted;
    cpu::StridedCopy copy;  // copies between `adapted` and the original
  };
  static Transposed MakeTransposed(int index, const TensorInfo& first, bool is_input, size_t& bytes);

  std::vector<Transposed> inputs_;
  Transposed output_;
};

template <class T> class ViaNchw : public ViaNchwKernel {
 public:
  ViaNchw() : ViaNchwKernel(std::make_unique<T>()) {}
  static bool Legal(const KernelQuery& q) { return IsChannelsLast(q) && T::Legal(NchwQuery(q).query); }
  static std::vector<Work> WorkOf(const KernelQuery& q) requires requires { &T::WorkOf; }
  { return WithTransposing(q, T::WorkOf(NchwQuery(q).query)); }
  static std::string WhyNot(const KernelQuery& q) requires requires { &T::WhyNot; }
  { return IsChannelsLast(q) ? T::WhyNot(NchwQuery(q).query) : "needs channels last"; }
};

// Registers T, and registers it again through adapters for f16, bf16 and channels_last. T must not accept
// channels_last.
template <class T>
[[gnu::always_inline]] inline void AddWithLayouts(KernelTable& table, const char* op, KernelName name,
                                                  double cost = 1) {
  // If T has no WorkOf, this factor makes ViaNchw<T> more expensive than any native channels-last kernel.
  constexpr double kTransposing = 20;
  AddWithHalf<T>(table, op, name, cost);
  const auto transposing = [&] {
    return EntryOf<ViaNchw<T>>(op, StrCat(name.text(), KernelName::kViaNchw), ViaNchw<T>::Legal,
                               kTransposing * cost);
  };
  if (name.via_nchw()) table.Add(transposing());
  if (name.via_nchw_and_f32()) table.Add(ViaF32Entry(transposing()));
}

}  // namespace tern
