// tern demo: runs the built-in digit classifier on the built-in pictures.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "data/file.h"
#include "data/image/picture_input.h"
#include "data/json_writer.h"
#include "load/load.h"
#include "ops/ops.h"
#include "tools/embedded.h"
#include "tools/engine.h"
#include "tools/timing.h"
#include "tools/tool.h"
#include "tools/units.h"

namespace tern::tools {
namespace {

constexpr std::string_view kDemoModel = "digits.onnx";

struct DemoAnswer {
  std::string picture;  // the name of the picture's file
  data::Image image;
  int64_t digit = 0;
  std::vector<double> probabilities;
  double milliseconds = 0;
};

class DemoTool : public Tool {
 public:
  const char* name() const override { return "demo"; }
  const char* summary() const override { return "recognise handwritten digits with the built-in model"; }
  const char* examples() const override {
    return "  tern demo\n"
           "  tern demo --all\n"
           "  tern demo my_digit.png\n"
           "  tern demo --save FOLDER\n";
  }
  void Declare(Args& args) override {
    args.OptionalPositional(
        "PICTURE", picture_,
        "recognise the light digit on a dark background in this picture (.png .jpg .webp .bmp .gif), instead of the built-in pictures");
    args.Flag("--all", all_, "recognise all built-in pictures, not only three");
    args.Option("--save", save_, "DIR",
                "write the model and the pictures to DIR, to try other commands on them");
    args.Flag("--json", json_, "print one JSON object");
  }
  Result<int> Run(const Args& args) override;

 private:
  Result<std::vector<std::pair<std::string, data::Image>>> Pictures() const;
  std::string picture_, save_;
  bool all_ = false, json_ = false;
};

Result<DemoAnswer> Recognise(Engine& engine, const std::string& name, const data::Image& image) {
  DemoAnswer a{name, data::Resize(data::WithChannels(image, 1), 28, 28), 0, {}, 0};
  TERN_ASSIGN(const Tensor input, data::ImageToTensor(a.image, DType::kF32, {1, 1, 28, 28}, {}));
  const Stopwatch watch;
  TERN_ASSIGN(const DatumList outputs, engine.Run({input}));
  a.milliseconds = watch.Milliseconds();
  a.probabilities = ToDoubles(outputs.at(0).tensor);
  a.digit = std::max_element(a.probabilities.begin(), a.probabilities.end()) - a.probabilities.begin();
  return a;
}

// Prints a picture as text in five shades. A line of text shows two rows of pixels. The text beside[i] is
// printed to the right of line i.
void PrintPicture(const data::Image& image, const std::vector<std::string>& beside) {
  constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
  for (int y = 0; y + 1 < image.height; y += 2) {
    std::string line;
    for (int x = 0; x < image.width; ++x) line += kShades[(*image.at(x, y) + *image.at(x, y + 1)) * 5 / 512];
    const auto row = static_cast<size_t>(y / 2);
    fmt::print("  {}  {}\n", line, row < beside.size() ? beside[row] : "");
  }
}

void Print(const DemoAnswer& a) {
  std::vector<std::string> beside = {
      fmt::format("{}: this is {} {}", a.picture, a.digit == 8 ? "an" : "a", a.digit), ""};
  for (size_t d = 0; d < a.probabilities.size(); ++d) {
    const double p = a.probabilities[d];
    beside.push_back(
        fmt::format("{} {:>6.2f}% {}", d, 100 * p, std::string(static_cast<size_t>(p * 30 + 0.5), '#')));
  }
  beside.push_back(fmt::format("in {:.3f} ms", a.milliseconds));
  PrintPicture(a.image, beside);
  fmt::print("\n");
}

void PrintJson(const std::vector<DemoAnswer>& answers) {
  data::JsonWriter json;
  json.BeginObject().Key("answers").BeginArray();
  for (const DemoAnswer& a : answers) {
    json.BeginObject()
        .Key("picture")
        .Text(a.picture)
        .Key("digit")
        .Int(a.digit)
        .Key("probabilities")
        .BeginArray();
    for (const double p : a.probabilities) json.Number(static_cast<float>(p));
    json.EndArray().Key("latency_ms").Number(a.milliseconds).EndObject();
  }
  fmt::print("{}\n", json.EndArray().EndObject().text());
}

Status Save(const std::string& folder, bool as_json) {
  TERN_TRY(data::MakeFolders(folder));
  std::vector<std::string> written;
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    // Other commands use the other embedded files.
    if (!EndsWith(file.name, ".onnx") && !EndsWith(file.name, ".png")) continue;
    TERN_TRY(data::WriteFile(folder + "/" + file.name, file.bytes()));
    written.emplace_back(file.name);
  }
  if (!as_json) {
    fmt::print("wrote {} files to {}\n", written.size(), Printable(folder));
    return {};
  }
  data::JsonWriter json;
  json.BeginObject().Key("folder").Text(folder).Key("files").BeginArray();
  for (const std::string& name : written) json.Text(name);
  fmt::print("{}\n", json.EndArray().EndObject().text());
  return {};
}

Result<std::vector<std::pair<std::string, data::Image>>> DemoTool::Pictures() const {
  std::vector<std::pair<std::string, data::Image>> out;
  if (!picture_.empty()) {
    TERN_ASSIGN(data::Image image, data::ReadImage(picture_));
    out.emplace_back(picture_, std::move(image));
    return out;
  }
  for (const EmbeddedFile& file : EmbeddedFiles()) {
    if (!EndsWith(file.name, ".png")) continue;
    if (!all_ && !std::strchr("258", file.name[0])) continue;
    if (!all_ && !EndsWith(file.name, "_0.png")) continue;
    TERN_ASSIGN(data::Image image, data::DecodeImage(file.bytes()));
    out.emplace_back(file.name, std::move(image));
  }
  return out;
}

Result<Engine> MakeEngine() {
  for (const EmbeddedFile& file : EmbeddedFiles())
    if (file.name == kDemoModel) {
      InitOps();
      const Buffer bytes = Buffer::Borrow(const_cast<unsigned char*>(file.data), file.size, nullptr);
      TERN_ASSIGN(load::Loaded loaded, load::LoadBytes(bytes));
      return Engine::Make(std::move(loaded.graph), {.level = Level::kLayout});
    }
  return Status(Code::kInternal, "this build does not contain the demo's model");
}

// Suggests further commands. They start with the environment variable TERN_COMMAND if it is set. The script
// `tern` of a checkout sets it to the command that the user typed.
void PrintNext() {
  const char* command = std::getenv("TERN_COMMAND");
  const std::pair<const char*, const char*> next[] = {
      {"demo --all", "every built-in picture"},
      {"demo your_picture.png", "a light digit on a dark background"},
      {"demo --save /tmp/digits", "the model and the pictures as files; then:"},
      {"inspect /tmp/digits/digits.onnx", "its layers and what they cost"},
      {"bench /tmp/digits/digits.onnx", "how fast it is on this machine"},
      {"run /tmp/digits/digits.onnx --input /tmp/digits/7_0.png --topk 3", ""}};
  fmt::print("What to try next:\n");
  for (const auto& [arguments, what] : next)
    fmt::print("  {} {:<34} {}\n", command ? command : "tern", arguments, what);
}

Result<int> DemoTool::Run(const Args&) {
  if (!save_.empty()) {
    TERN_TRY(Save(save_, json_));
    return 0;
  }
  TERN_ASSIGN(const auto pictures, Pictures());
  TERN_ASSIGN(Engine engine, MakeEngine());
  TERN_ASSIGN(const Tensor blank, data::ImageToTensor(data::Image{28, 28, 1, std::vector<uint8_t>(28 * 28)},
                                                      DType::kF32, {1, 1, 28, 28}, {}));
  TERN_TRY(engine.Run({blank}).TakeStatus());  // the first run also compiles the plan, so it is not measured
  std::vector<DemoAnswer> answers;
  for (const auto& [name, image] : pictures) {
    TERN_ASSIGN(DemoAnswer a, Recognise(engine, name, image));
    if (!json_) Print(a);
    answers.push_back(std::move(a));
  }
  if (json_) {
    PrintJson(answers);
    return 0;
  }
  PrintNext();
  return 0;
}

}  // namespace

TERN_TOOL(Demo) { return std::make_unique<DemoTool>(); }

}  // namespace tern::tools
