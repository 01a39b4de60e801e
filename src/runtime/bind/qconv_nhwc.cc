// Binds QConv over channels-last images to the integer kernels.
#include "kernels/cpu/byte/nhwc_byte_conv.h"
#include "kernels/cpu/support/blocking.h"
#include "runtime/bind/byte_bound.h"
#include "runtime/bind/conv_nhwc.h"
#include "runtime/bind/conv_work.h"

namespace tern {
namespace {

const QuantizedForm& QConvForm() { return *QuantizedFormOf("QConv"); }

Result<cpu::ConvShape> ByteShape(const KernelQuery& q) {
  const Dims& w = q.InDims(3);
  Window window;
  TERN_ASSIGN(cpu::ConvShape s, WindowShape(q, Dims(w.begin() + 2, w.end()), window));
  s.batch = q.InDims(0)[0], s.channels = q.InDims(0).back(), s.maps = q.OutDims(0).back(),
  s.group = q.attrs().Int("group");
  return s;
}

// `Conv` is a class of kernels/cpu/byte.
template <class T, class Conv> class QConvKernel : public KernelOf<T> {
 public:
  static bool Legal(const KernelQuery& q) { return T::WhyNot(q).empty(); }
  static std::string WhyNot(const KernelQuery& q) {
    if (!HasSupportedSpatialAxes(q)) return "needs one to three spatial axes";
    if (!IsChannelsLast(q)) return "needs channels last";
    const Dims& w = q.InDims(3);
    const int64_t depth = CountFrom(w, 1, w.size());
    return ByteBound::WhyNot(QConvForm(), q, 1, depth, depth, w[0]);
  }
  static bool RowStride(const KernelQuery& q) { return !q.Has(QConvForm().residual()); }

  Status Prepare(PrepareContext& c) override {
    const Tensor& w = *c.Weight(3);
    const cpu::ConvShape s = WeightShape(w.dims(), c.attrs(), false);
    TERN_ASSIGN(packed_,
                c.Packed(ByteBound::PackedInputs(c), DType::kI8, {Conv::PackedSize(s)}, [&](Tensor& to) {
                  Conv::Pack(s, ByteBound::Weights(c), to.data<int8_t>(), c.workers());
                }));
    return {};
  }
  Status Resize(ResizeContext& c) override {
    TERN_ASSIGN(const cpu::ConvShape s, ByteShape(c.query()));
    conv_ = Conv(s, c->InType(0));
    row_stride_ = c.row_stride();
    const size_t bytes = cpu::Aligned(conv_.Scratch(c.threads()));
    c.SetScratch(bound_.Resize(c.query(), packed_.data<const int8_t>(), s.maps, bytes));
    return {};
  }
  Status Run(RunContext& c) override {
    conv_.Run({c.In(0).raw(), bound_.XZero(c), packed_.data<const int8_t>(), c.Out(0).raw(), bound_.For(c),
               row_stride_},
              c.scratch<void>(), c.workers());
    return {};
  }

 protected:
  // Returns a Work with the bytes of all operands.
  static Work Operands(const cpu::ConvShape& s, const KernelQuery& q) {
    Work work = ConvOperands(s);
    work.weights /= 4;
    const double pixels = ProductOf({s.batch, s.maps}) * ProductOf(s.output);
    const bool real = q.OutType(0) == DType::kF32;
    work.moved = work.moved / 4 + (real ? 3 * pixels : 0) +
                 (q.Has(QConvForm().residual()) ? (real ? 4 : 1) * pixels : 0);
    return work;
  }

 private:
  Tensor packed_;
  Conv conv_;
  ByteBound bound_{"QConv"};
  int64_t row_stride_ = 0;
};

class QConvWindows : public QConvKernel<QConvWindows, cpu::NhwcByteConv> {
 public:
  static constexpr const char* kPack = "qconv.panels.i8";
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = ByteShape(q);
    if (!s.ok()) return {};  // Resize returns the error
    const cpu::NhwcCounts counts = cpu::NhwcByteConv(*s, q.InType(0)).Counts();
    Work work = Operands(*s, q);
    work.algorithm = "conv_i8";
    work.products = counts.products;
    work.transformed = counts.copied;
    return {work};
  }
};

class QConvDepthwise : public QConvKernel<QConvDepthwise, cpu::NhwcByteDepthwise> {
 public:
  static constexpr const char* kPack = "qconv.depthwise.i8";
  static std::string WhyNot(const KernelQuery& q) {
    if (std::string why = QConvKernel::WhyNot(q); !why.empty()) return why;
    const int64_t channels = q.InDims(0).back();
    return q.attrs().Int("group") == channels && q.OutDims(0).back() == channels
               ? ""
               : "needs as many groups and output channels as input channels";
  }
  static std::vector<Work> WorkOf(const KernelQuery& q) {
    const Result<cpu::ConvShape> s = ByteShape(q);
    if (!s.ok()) return {};
    Work work = DepthwiseWork("depthwise_i8", *s);
    const Work operands = Operands(*s, q);
    work.weights = operands.weights, work.moved = operands.moved;
    return {work};
  }
};

}  // namespace

TERN_KERNELS(QConvNhwc) {
  table.Add<QConvWindows>("QConv", "cpu.qconv.nhwc.i8", QConvWindows::Legal);
  table.Add<QConvDepthwise>("QConv", "cpu.qconv.nhwc.depthwise.i8", QConvDepthwise::Legal);
}

}  // namespace tern
