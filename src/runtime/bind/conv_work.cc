#include "runtime/bind/conv_work.h"

#include "kernels/cpu/gemm/tile_products.h"

namespace tern {
namespace {

int64_t RoundUp(int64_t n, int64_t to) { return n > INT64_MAX - to ? n : (n + to - 1) / to * to; }

// Returns the sum of cpu::TileProducts over `count` matrix products [rows, dwords] x [dwords, columns].
// `rows` is a double, because it may exceed int64_t.
double Products(double count, double rows, int64_t columns, int64_t dwords) {
  constexpr double kMaxRows = 1e9;
  const double parts = rows > kMaxRows ? rows / kMaxRows : 1;
  return count * parts *
         cpu::TileProducts(cpu::TileSimd(), static_cast<int64_t>(rows / parts), columns, dwords);
}

}  // namespace

Work ConvOperands(const cpu::ConvShape& s) {
  Work work;
  work.weights = 4 * ProductOf(s.kernel) * ProductOf({s.maps, s.group_channels()});
  work.moved = 4 * (ProductOf({s.batch, s.channels}) * ProductOf(s.input) +
                    ProductOf({s.batch, s.maps}) * ProductOf(s.output));
  return work;
}

Work PointwiseWork(const cpu::ConvShape& s, cpu::Operands operands) {
  const bool bf16 = operands == cpu::Operands::kBf16;
  Work work = ConvOperands(s);
  work.algorithm = bf16 ? "pointwise_bf16" : "pointwise";
  work.products = cpu::NhwcConv(s, operands).Counts().products;
  if (bf16) work.weights /= 2;
  if (bf16) work.transformed = ProductOf({s.batch, s.channels}) * ProductOf(s.input);
  return work;
}

Work DepthwiseWork(const char* algorithm, const cpu::ConvShape& s) {
  Work work = ConvOperands(s);
  const double cost = s.kernel[2] <= 7 ? 1 : 2.3;  // wider kernels have no specialized functions
  const double results =
      ProductOf({s.batch, RoundUp(s.maps, cpu::TileSimd().columns / 2)}) * ProductOf(s.output);
  work.algorithm = algorithm;
  work.products = cost * results * ProductOf(s.kernel);
  work.transformed = results;
  return work;
}

Work ConvTransposeWork(const char* algorithm, const cpu::ConvShape& s, bool col2im) {
  Work work = ConvOperands(s);
  const double pixels = static_cast<double>(s.batch) * ProductOf(s.input);
  work.algorithm = algorithm;
  work.products = ProductOf(s.kernel) *
                  Products(static_cast<double>(s.group), pixels, s.group_maps(), s.group_channels());
  work.transformed = col2im ? pixels * static_cast<double>(s.maps) * ProductOf(s.kernel)
                            : pixels * static_cast<double>(s.channels);
  return work;
}

Work Im2colWork(const char* algorithm, const cpu::ConvShape& s) {
  Work work = ConvOperands(s);
  const int64_t columns = cpu::TileSimd().columns;
  // `panels` exceeds the number of panels: by 1 if the pixels fill the last panel, otherwise by less. The
  // cost model is fitted with this value.
  const double count = ProductOf({s.batch, s.group}), taps = ProductOf(s.kernel),
               pixels = ProductOf(s.output),
               panels = pixels > 0 ? 1 + pixels / static_cast<double>(columns) : 0;
  work.algorithm = algorithm;
  work.products =
      taps * Products(count * panels, static_cast<double>(s.group_maps()), columns, s.group_channels());
  if (taps > 1) work.transformed = count * pixels * taps * static_cast<double>(s.group_channels());
  return work;
}

}  // namespace tern
