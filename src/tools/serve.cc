// tern serve: the inference server. server/main/setting_table.h lists its settings.
#include <deque>

#include "server/main/setting_table.h"
#include "tools/embedded.h"
#include "tools/serve_paths.h"
#include "tools/server_library.h"
#include "tools/tool.h"

namespace tern::tools {
namespace {

using server::kServeSettings;
using server::SettingKind;
using server::SettingRow;

constexpr const char* kModel = "digits.onnx";
constexpr const char* kPipeline = "pipeline.yaml";
constexpr const char* kPicture = "7_0.png";
constexpr const char* kExample = "seven.json";

class ServeTool : public Tool {
 public:
  const char* name() const override { return "serve"; }
  const char* summary() const override { return "serve models over HTTP and gRPC (v2 protocol)"; }
  const char* examples() const override {
    return "  tern serve                                   # the built-in digits model\n"
           "  tern serve resnet50.onnx bert.pt2            # models, as 'resnet50' and 'bert'\n"
           "  tern serve --model resnet=resnet50.onnx      # under another name\n"
           "  tern serve models                            # a folder in Triton's layout: models/NAME/1/model.onnx\n"
           "  tern serve --repository models --model-control poll --log access.json\n"
           "  tern serve --config serve.yml                # the same settings as a file: http-port: 8080\n"
           "\n"
           "Every setting is a flag, an environment variable (--http-port: TERN_SERVE_HTTP_PORT) and a key of\n"
           "the --config file. A flag overrides an environment variable, which overrides the file.\n"
           "After SIGTERM or Ctrl-C, the server refuses new requests, answers the accepted ones and exits.\n"
           "A second signal exits at once. After SIGHUP, the server opens the access log and the audit log again,\n"
           "and looks for changes of certificates and of the access file.\n";
  }
  void Declare(Args& args) override;
  Result<int> Run(const Args& args) override;

 private:
  struct Setting {
    bool flag = false;
    std::vector<std::string> values;
  };
  // One per row of kServeSettings. It is a deque, because Args stores pointers to the elements.
  std::deque<Setting> settings_;
  std::string config_;
  std::vector<std::string> paths_;
};

std::string FlagNames(const SettingRow& row) {
  std::string names = StrCat("--", row.name);
  for (const std::string& alias : SplitText(row.aliases, ','))
    if (!alias.empty()) names += StrCat(",--", alias);
  return names;
}

void ServeTool::Declare(Args& args) {
  args.OptionalPositional("MODEL", paths_,
                          "a model file or folder, served under its name without extension, or a folder in "
                          "Triton's layout; without any model, the built-in one is served");
  for (const SettingRow& row : kServeSettings) {
    Setting& setting = settings_.emplace_back();
    args.Section(row.section);
    if (row.kind == SettingKind::kFlag)
      args.Flag(FlagNames(row), setting.flag, row.doc);
    else
      args.Option(FlagNames(row), setting.values, row.value, row.doc);
  }
  args.Section("Running");
  args.Option("--config", config_, "FILE", "YAML file with any of these settings");
}

std::vector<server::BuiltinFile> Builtin() {
  std::vector<server::BuiltinFile> files;
  for (const char* name : {kModel, kPipeline, kExample, kPicture})
    for (const EmbeddedFile& file : EmbeddedFiles())
      if (std::string_view(file.name) == name) files.push_back({name, std::string(file.bytes())});
  return files;
}

Result<int> ServeTool::Run(const Args& args) {
  server::ServeCommand command;
  size_t i = 0;
  for (const SettingRow& row : kServeSettings) {
    const Setting& setting = settings_[i++];
    if (row.kind == SettingKind::kFlag && args.Given(StrCat("--", row.name)))
      command.flags.emplace_back(row.name, setting.flag ? "true" : "false");
    for (const std::string& value : setting.values) command.flags.emplace_back(row.name, value);
  }
  TERN_ASSIGN(const auto settings, SettingsOfPaths(paths_));
  command.flags.insert(command.flags.end(), settings.begin(), settings.end());
  if (!config_.empty()) command.flags.emplace_back("config", config_);
  command.builtin = Builtin();
  command.builtin_name = "digits";
  command.builtin_example = kExample;
  command.builtin_picture = kPicture;
  TERN_ASSIGN(const server::ServerLibrary* library, OpenServerLibrary());
  return library->serve(command);
}

}  // namespace

TERN_TOOL(Serve) { return std::make_unique<ServeTool>(); }

}  // namespace tern::tools
