// Calls the image functions for tests and benchmarks in Python. Each line of standard input is a command:
//   decode FILE
//   resize FILE WIDTH HEIGHT FILTER [LEFT TOP RIGHT BOTTOM]
//   convert FILE gray|rgb|ycbcr|from_ycbcr
//   tensor FILE KEY=VALUE…            keys: fit size filter crop colour layout dtype scale mean std flip pad
//   time_decode FILE COUNT
//   time_tensor FILE COUNT KEY=VALUE…
//   isa base|avx2
// The answer is a line, "ok NUMBERS…" or "error MESSAGE", and after ok the bytes of the pixels, whose count
// is the last number. The times are seconds of CPU time per call.
#include <ctime>
#include <iostream>
#include <map>
#include <sstream>

#include "data/file.h"
#include "data/image/pixel_kernels.h"
#include "data/image/to_tensor.h"
#include "data/image/transform.h"

namespace tern::data {
namespace {

using Words = std::vector<std::string>;

std::string Bytes(const void* data, size_t size) { return {static_cast<const char*>(data), size}; }

std::string Answer(const Image& i) {
  return StrCat("ok ", i.height, " ", i.width, " ", i.channels, " ", i.pixels.size(), "\n") +
         Bytes(i.pixels.data(), i.pixels.size());
}

double Number(const std::string& text) { return std::stod(text); }
int Integer(const std::string& text) { return std::stoi(text); }

std::vector<double> Numbers(const std::string& text) {
  std::vector<double> out;
  for (const std::string& part : SplitText(text, ',')) out.push_back(Number(part));
  return out;
}

Size SizeFrom(const std::string& text) {
  const std::vector<double> v = Numbers(text);
  return {static_cast<int>(v[0]), static_cast<int>(v.back())};
}

Result<PixelOptions> ParseOptions(const Words& words, size_t first) {
  const std::map<std::string, Fit> fits = {{"keep", Fit::kKeep},           {"stretch", Fit::kStretch},
                                           {"shorter", Fit::kShorterSide}, {"inside", Fit::kInside},
                                           {"letterbox", Fit::kLetterbox}, {"pad_end", Fit::kPadEnd}};
  const std::map<std::string, Colour> colours = {
      {"rgb", Colour::kRgb}, {"bgr", Colour::kBgr}, {"gray", Colour::kGray}, {"ycbcr", Colour::kYCbCr}};
  PixelOptions o;
  for (size_t i = first; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string key = words[i].substr(0, equals), value = words[i].substr(equals + 1);
    if (key == "fit") o.fit = fits.at(value);
    if (key == "size") o.size = SizeFrom(value);
    if (key == "crop") o.crop = SizeFrom(value);
    if (key == "filter") {
      TERN_ASSIGN(o.filter, FilterFromName(value));
    }
    if (key == "colour") o.colour = colours.at(value);
    if (key == "layout") o.layout = value == "NHWC" ? Layout::kNhwc : Layout::kNchw;
    if (key == "dtype") o.dtype = value == "u8" ? DType::kU8 : value == "f16" ? DType::kF16 : DType::kF32;
    if (key == "scale") o.scale = Number(value);
    if (key == "mean") o.mean = Numbers(value);
    if (key == "std") o.std = Numbers(value);
    if (key == "flip") o.flip_horizontal = true;
    if (key == "pad") o.pad_colour.fill(static_cast<uint8_t>(Number(value)));
  }
  return o;
}

Result<std::string> Resized(const Words& w) {
  TERN_ASSIGN(const Image image, ReadImage(w.at(1)));
  TERN_ASSIGN(const Filter filter, FilterFromName(w.at(4)));
  if (w.size() == 5) return Answer(Resize(image, Integer(w[2]), Integer(w[3]), filter));
  const SourceBox box{Number(w.at(5)), Number(w.at(6)), Number(w.at(7)), Number(w.at(8))};
  TERN_ASSIGN(const Image out, ResizeBox(image, box, Integer(w[2]), Integer(w[3]), filter));
  return Answer(out);
}

Result<std::string> Converted(const Words& w) {
  TERN_ASSIGN(const Image image, ReadImage(w.at(1)));
  if (w.at(2) == "gray") return Answer(WithChannels(image, 1));
  if (w[2] == "ycbcr") return Answer(RgbToYCbCr(image));
  return Answer(w[2] == "from_ycbcr" ? YCbCrToRgb(image) : WithChannels(image, 3));
}

Result<std::string> Tensored(const Words& w) {
  TERN_ASSIGN(const Image image, ReadImage(w.at(1)));
  TERN_ASSIGN(const PixelOptions o, ParseOptions(w, 2));
  TERN_ASSIGN(const Pixels pixels, ToTensor(image, o));
  std::string head = "ok";
  for (const int64_t d : pixels.tensor.dims()) head += StrCat(" ", d);
  return head + StrCat(" ", pixels.tensor.bytes(), "\n") + Bytes(pixels.tensor.raw(), pixels.tensor.bytes());
}

// CPU time of this thread, which does not count the time of other programs.
double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

template <class F> Result<std::string> Timed(int count, F call) {
  const double start = CpuSeconds();
  for (int i = 0; i < count; ++i) TERN_TRY(call());
  return StrCat("ok ", (CpuSeconds() - start) / count, " 0\n");
}

Result<std::string> TimedTensor(const Words& w) {
  TERN_ASSIGN(const Image image, ReadImage(w.at(1)));
  TERN_ASSIGN(const PixelOptions o, ParseOptions(w, 3));
  return Timed(Integer(w.at(2)), [&] { return ToTensor(image, o).TakeStatus(); });
}

Result<std::string> TimedDecode(const Words& w) {
  TERN_ASSIGN(const std::string bytes, ReadFile(w.at(1)));
  return Timed(Integer(w.at(2)), [&] { return DecodeImage(bytes).TakeStatus(); });
}

Result<std::string> SetIsa(const Words& w) {
  const PixelKernels* kernels = w.at(1) == "base" ? &kBasePixelKernels : Avx2PixelKernels();
  if (!kernels) return Unsupported("this machine lacks ", w[1]);
  UsePixelKernels(kernels);
  return std::string("ok 0\n");
}

Result<std::string> Run(const Words& w) {
  const std::map<std::string, Result<std::string> (*)(const Words&)> commands = {
      {"resize", Resized},          {"convert", Converted},       {"tensor", Tensored},
      {"time_tensor", TimedTensor}, {"time_decode", TimedDecode}, {"isa", SetIsa}};
  if (w.at(0) == "decode") {
    TERN_ASSIGN(const Image image, ReadImage(w.at(1)));
    return Answer(image);
  }
  return commands.at(w[0])(w);
}

}  // namespace
}  // namespace tern::data

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    tern::data::Words words;
    for (std::string word; in >> word;) words.push_back(word);
    const auto answer = tern::Guard([&] { return tern::data::Run(words); });
    std::string error = answer.ok() ? "" : answer.status().ToString();
    for (char& c : error) c = c == '\n' ? ' ' : c;
    std::cout << (answer.ok() ? *answer : "error " + error + "\n") << std::flush;
  }
}
