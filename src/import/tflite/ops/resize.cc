// Converts the resampling of images.
#include "import/tflite/ops/emit.h"

namespace tern::tflite {
namespace {

// Returns the sizes [N, C, H, W]. H and W are input 1.
Value* SizesOf(LiteNode& n, Value* x) {
  return Joined(
      n.b, {n.b.Op("Shape", {x}, {{"start", int64_t{0}}, {"end", int64_t{2}}}), Longs64(n.b, n.In(1))}, 0);
}

const char* Coordinates(bool align_corners, bool half_pixel) {
  return align_corners ? "align_corners" : half_pixel ? "half_pixel" : "asymmetric";
}

Status ResizeBilinear(LiteNode& n) {
  const auto& o = n.Options<fb::ResizeBilinearOptions>();
  Value* x = n.Real(0, Layout::kFirst);
  Value* y =
      n.b.Op("Resize", {x, nullptr, nullptr, SizesOf(n, x)},
             {{"mode", "linear"}, {"coordinates", Coordinates(o.align_corners(), o.half_pixel_centers())}});
  n.OutReal(0, y, Layout::kFirst);
  return {};
}

// Positions are rounded down, or to nearest with align_corners.
Status ResizeNearest(LiteNode& n) {
  const auto& o = n.Options<fb::ResizeNearestNeighborOptions>();
  Value* x = n.In(0, Layout::kFirst);
  const char* coordinates = o.half_pixel_centers() && !o.align_corners()
                                ? "tf_half_pixel_for_nn"
                                : Coordinates(o.align_corners(), false);
  Value* y = n.b.Op("Resize", {x, nullptr, nullptr, SizesOf(n, x)},
                    {{"mode", "nearest"},
                     {"coordinates", coordinates},
                     {"nearest", o.align_corners() ? "round_prefer_ceil" : "floor"}});
  n.Out(0, y, Layout::kFirst);
  return {};
}

}  // namespace

TERN_CONVERTERS(resize) {
  table.Add("RESIZE_BILINEAR", 2, ResizeBilinear);
  table.Add("RESIZE_NEAREST_NEIGHBOR", 2, ResizeNearest);
}

}  // namespace tern::tflite
