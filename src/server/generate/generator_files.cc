#include "server/generate/generator_files.h"

#include <filesystem>

#include "data/file.h"
#include "generate/generate.h"
#include "server/backend/snapshot.h"
#include "server/core/log.h"
#include "server/generate/template/chat_template.h"

namespace tern::server {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kDefaultContext = 1024;
constexpr size_t kMaxConfigBytes = size_t{64} << 20;

// Returns the object of a JSON file, or an empty object if the file does not exist.
Result<TemplateValue> ReadObject(const std::string& folder, const char* name) {
  const std::string path = folder + "/" + name;
  std::error_code error;
  if (!fs::exists(path, error)) return TemplateValue::Object();
  if (fs::file_size(path, error) > kMaxConfigBytes || error)
    return InvalidModel(name, " has more than ", kMaxConfigBytes, " bytes or cannot be read");
  TERN_ASSIGN(const std::string text, data::ReadFile(path));
  auto value = ParseValue(text);
  if (!value.ok()) return InvalidModel(name, ": ", value.status().message());
  if (!value->is_object()) return InvalidModel(name, " must be a JSON object");
  return value;
}

// Reads a parameter of config.pbtxt into `out`, which keeps its value if there is no such parameter. Fails if
// it is not an integer from `least` to `most`.
Status ReadLimit(const ModelConfig& config, const char* name, int64_t least, int64_t most, int64_t& out) {
  const auto found = config.parameters.find(name);
  if (found == config.parameters.end()) return {};
  if (!ParseInt(found->second, out) || out < least || out > most)
    return InvalidArgument("parameter ", name, " is '", found->second, "'; it must be an integer from ",
                           least, " to ", most);
  return {};
}

// The documents of the folder.
struct Documents {
  TemplateValue model, generation, tokenizer;
};

int64_t ContextOf(const Documents& files) {
  for (const char* name : {"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length"})
    if (const TemplateValue value = files.model.Member(name); value.is_int() && value.integer() > 0)
      return value.integer();
  const TemplateValue length = files.tokenizer.Member("model_max_length");
  return length.is_int() && length.integer() > 0 && length.integer() < (1 << 24) ? length.integer()
                                                                                 : kDefaultContext;
}

// A special token is a text, or an object with its text as `content`.
std::string TokenText(const TemplateValue& value) {
  const TemplateValue& text = value.is_object() ? value.Member("content") : value;
  return text.is_text() ? text.text() : std::string();
}

void AddIds(const TemplateValue& value, std::vector<int64_t>& out) {
  if (value.is_int()) out.push_back(value.integer());
  if (value.is_list())
    for (const TemplateValue& element : value.list()) AddIds(element, out);
}

void ReadTokens(const Documents& files, GeneratorInfo& info) {
  info.bos_text = TokenText(files.tokenizer.Member("bos_token"));
  info.eos_text = TokenText(files.tokenizer.Member("eos_token"));
  AddIds(files.generation.Member("eos_token_id"), info.eos);
  if (info.eos.empty()) AddIds(files.model.Member("eos_token_id"), info.eos);
  if (info.eos.empty() && !info.eos_text.empty())
    if (const auto id = info.tokenizer->TokenToId(info.eos_text)) info.eos.push_back(*id);
}

void ReadDefaults(const TemplateValue& generation, GeneratorDefaults& out) {
  const auto number = [&](const char* name, double least, double most, double& to) {
    const TemplateValue value = generation.Member(name);
    if (value.is_number() && value.number() >= least && value.number() <= most) to = value.number();
  };
  number("temperature", 0, 100, out.temperature);
  number("top_p", 0, 1, out.top_p);
  number("repetition_penalty", 1e-3, 1e3, out.repetition_penalty);
  if (const TemplateValue k = generation.Member("top_k"); k.is_int() && k.integer() >= 0)
    out.top_k = k.integer();
}

// The template is a text, or a list of templates with names, of which one is named "default".
Result<std::string> TemplateText(const std::string& folder, const Documents& files) {
  std::error_code error;
  const std::string path = folder + "/chat_template.jinja";
  if (fs::exists(path, error)) return data::ReadFile(path);
  const TemplateValue value = files.tokenizer.Member("chat_template");
  if (value.is_text()) return value.text();
  if (value.is_list())
    for (const TemplateValue& entry : value.list())
      if (entry.Member("name").ToText() == "default" && entry.Member("template").is_text())
        return entry.Member("template").text();
  return std::string();
}

Status ReadTemplate(const std::string& folder, const Documents& files, const std::string& model,
                    GeneratorInfo& info) {
  TERN_ASSIGN(const std::string text, TemplateText(folder, files));
  if (text.empty()) {
    info.no_chat = "the model has no chat template (chat_template in tokenizer_config.json)";
    return {};
  }
  auto parsed = ChatTemplate::Parse(text);
  if (parsed.ok()) {
    info.chat = std::move(*parsed);
    return {};
  }
  info.no_chat = StrCat("the model's chat template cannot be used: ", parsed.status().message());
  Log(LogLevel::kWarning, StrCat("model '", model, "': ", info.no_chat));
  return {};
}

Status ReadInfo(const std::string& folder, const std::string& model, const Documents& files,
                GeneratorInfo& info) {
  TERN_ASSIGN(const auto tokenizer, data::Tokenizer::Load(folder + "/tokenizer.json"));
  TERN_ASSIGN(info.tokenizer, tokenizer->With(std::nullopt, std::nullopt));
  ReadTokens(files, info);
  ReadDefaults(files.generation, info.defaults);
  return ReadTemplate(folder, files, model, info);
}

Status ReadLimits(const ModelConfig& config, CausalOptions& options, EngineLimits& limits,
                  std::chrono::nanoseconds& deadline) {
  int64_t threads = 0, milliseconds = 0;
  TERN_TRY(ReadLimit(config, "tern_context", 8, 1 << 24, options.context));
  TERN_TRY(ReadLimit(config, "tern_prompt_chunk", 1, 4096, options.chunk));
  TERN_TRY(ReadLimit(config, "tern_max_sequences", 1, 1024, options.rows));
  TERN_TRY(ReadLimit(config, "tern_threads", 0, kMaxThreads, threads));
  options.threads = static_cast<int>(threads);
  limits.running = options.rows;
  limits.waiting = 8 * limits.running;
  TERN_TRY(ReadLimit(config, "tern_max_waiting", 0, 1'000'000, limits.waiting));
  limits.cache_tokens = limits.running * CapacityOf(options.context);
  TERN_TRY(ReadLimit(config, "tern_cache_tokens", 64, int64_t{1} << 40, limits.cache_tokens));
  TERN_TRY(ReadLimit(config, "tern_deadline_ms", 0, 86'400'000, milliseconds));
  deadline = std::chrono::milliseconds(milliseconds);
  const auto found = config.parameters.find("tern_precision");
  if (found == config.parameters.end()) return {};
  const auto precision = ParsePrecision(found->second);
  if (!precision)
    return InvalidArgument("parameter tern_precision is '", found->second, "'; it must be ", kPrecisionNames);
  options.precision = *precision;
  return {};
}

}  // namespace

std::string TokenizerFolder(const ModelFiles& files, const std::string& root) {
  std::error_code error;
  for (const std::string& folder : {files.folder, root})
    if (!folder.empty() && fs::is_regular_file(folder + "/tokenizer.json", error)) return folder;
  return {};
}

Result<std::shared_ptr<ModelVersion>> LoadGenerator(const ModelFiles& files, const std::string& folder,
                                                    ModelConfig config, const std::string& version,
                                                    std::shared_ptr<Executor> executor) {
  InitGenerate();
  TERN_ASSIGN(load::Loaded loaded, LoadSnapshot(files.file));
  if (!CausalModel::HasStates(*loaded.graph))
    return Unsupported("the model has no inputs and outputs for the past, such as past_key_values.0.key");
  Documents documents;
  TERN_ASSIGN(documents.model, ReadObject(folder, "config.json"));
  TERN_ASSIGN(documents.generation, ReadObject(folder, "generation_config.json"));
  TERN_ASSIGN(documents.tokenizer, ReadObject(folder, "tokenizer_config.json"));
  GeneratorModel::Parts parts;
  CausalOptions options;
  options.context = ContextOf(documents);
  TERN_TRY(ReadLimits(config, options, parts.limits, parts.deadline));
  TERN_TRY(ReadInfo(folder, config.name, documents, parts.info));
  TERN_ASSIGN(parts.model, CausalModel::Create(std::move(loaded.graph), options));
  for (const std::string& warning : parts.model->Warnings())
    Log(LogLevel::kWarning, StrCat("model '", config.name, "': ", warning));
  if (!parts.model->batches())
    Log(LogLevel::kWarning, StrCat("model '", config.name,
                                   "' generates sequences one after the other, token by "
                                   "token, which is slower than a batch: ",
                                   parts.model->why_alone()));
  parts.info.context = options.context;
  parts.info.vocabulary = parts.model->vocabulary();
  parts.info.created =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
          .count();
  parts.executor = std::move(executor);
  return std::shared_ptr<ModelVersion>(
      std::make_shared<GeneratorModel>(std::move(config), version, std::move(parts)));
}

}  // namespace tern::server
