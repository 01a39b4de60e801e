// Reads pictures: decode, resize, fit, crop. The other steps are ops of the graph.
#include "data/image/image.h"
#include "pipeline/rows.h"

namespace tern::pipeline {
namespace {

class ImageReader final : public InputReader {
 public:
  ImageReader(const Limits& limits, const BoundInput& input, const data::PixelOptions& options)
      : input_(input), options_(options) {
    decode_.max_pixels = static_cast<uint64_t>(limits.pixels);
  }

  Result<std::vector<ItemRows>> Read(const std::vector<std::string_view>& items,
                                     const Stop& stop) const override {
    return ReadItems(items, stop, [this](std::string_view bytes) { return ReadOne(bytes); });
  }

 private:
  Result<ItemRows> ReadOne(std::string_view bytes) const {
    TERN_ASSIGN(const data::Image image, data::DecodeImage(bytes, decode_));
    TERN_TRY(CheckPixels(image));
    TERN_ASSIGN(data::Pixels pixels, data::ToTensor(image, options_));
    const ImageBinding& to = input_.image;
    const data::Size size = pixels.placement.tensor;
    if ((to.width >= 0 && to.width != size.width) || (to.height >= 0 && to.height != size.height))
      return InvalidArgument("the picture is ", size.width, "x", size.height, " after all steps, but input '",
                             input_.tensor, "' of the model is ", to.width, "x", to.height);
    ItemRows out;
    out.info.placement = pixels.placement;
    out.decoded_bytes = image.pixels.size();
    out.rows.push_back({{input_.tensor, std::move(pixels.tensor)}});
    return out;
  }

  // Limits the pixels after resizing. If only the shorter side is given, a narrow picture could become very
  // long.
  Status CheckPixels(const data::Image& image) const {
    if (options_.fit != data::Fit::kShorterSide) return {};
    TERN_ASSIGN(const data::Size size, data::ShorterSide({image.width, image.height}, options_.size.width));
    if (static_cast<uint64_t>(size.width) * static_cast<uint64_t>(size.height) <= decode_.max_pixels)
      return {};
    return InvalidArgument("the picture, ", image.width, "x", image.height, ", would be ", size.width, "x",
                           size.height, " after resizing; the limit is ", decode_.max_pixels, " pixels");
  }

  const BoundInput input_;
  const data::PixelOptions options_;
  data::DecodeOptions decode_;
};

}  // namespace

Result<std::shared_ptr<const InputReader>> MakeImageReader(const Spec& spec, const BoundInput& input) {
  data::PixelOptions options;
  options.scale = 1;
  options.layout = data::Layout::kNhwc;
  options.dtype = DType::kU8;
  options.colour = input.image.channels == 1 ? data::Colour::kGray
                   : input.image.bgr         ? data::Colour::kBgr
                                             : data::Colour::kRgb;
  const auto* crop = input.spec.Find<CropStep>();
  if (crop) options.crop = {crop->width, crop->height};
  if (const auto* resize = input.spec.Find<ResizeStep>()) {
    options.fit = resize->height ? data::Fit::kStretch : data::Fit::kShorterSide;
    options.size = {resize->width, resize->height};
    TERN_ASSIGN(options.filter, data::FilterFromName(resize->filter));
  } else if (const auto* fit = input.spec.Find<FitStep>()) {
    options.fit = data::Fit::kLetterbox;
    options.size = {fit->width, fit->height};
    options.pad_colour.fill(static_cast<uint8_t>(fit->fill));
    TERN_ASSIGN(options.filter, data::FilterFromName(fit->filter));
  } else if (!crop && input.image.width > 0 && input.image.height > 0) {
    options.fit = data::Fit::kStretch;
    options.size = {static_cast<int>(input.image.width), static_cast<int>(input.image.height)};
  }
  if (options.size.width > data::kMaxSide || options.size.height > data::kMaxSide)
    return InvalidArgument(PlaceOf(spec, input.spec.line), "the model's input is ", options.size.width, "x",
                           options.size.height, "; a picture has at most ", data::kMaxSide,
                           " pixels per side");
  return std::shared_ptr<const InputReader>(std::make_shared<ImageReader>(spec.limits, input, options));
}

}  // namespace tern::pipeline
