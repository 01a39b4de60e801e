#include "load/load.h"

#include <algorithm>
#include <filesystem>

#include "load/foreign.h"

namespace tern::load {
namespace {

Status NotReadable(const Source& source, const Format& format, const FormatTable& formats) {
  return Unsupported(source.folder ? "the folder is " : "the file is ", format.title, "; Tern reads ",
                     formats.Readable(), " models: ", format.advice);
}

// Files of PyTorch and other zip archives are unusable if their end is missing.
Status CutOff(const Source& source) {
  const std::string extension = std::filesystem::path(source.path).extension().string();
  return InvalidModel("the file is cut off: ",
                      extension == ".pt2" || extension == ".pt" ? extension + " files are zip archives"
                                                                : "it starts as a zip archive",
                      ", but the archive's directory is missing at the end of its ", source.bytes.size(),
                      " bytes; copy or export it again");
}

Status CheckOptions(const LoadOptions& options, const Format& format) {
  if (!options.weights.empty() && !format.uses_weights)
    return InvalidArgument("the weights file '", options.weights, "' is given, but ", format.title,
                           " contains its weights");
  if (!options.signature.empty() && !format.uses_signature)
    return InvalidArgument("the signature '", options.signature, "' is given, but ", format.title,
                           " has no signatures");
  return {};
}

Status NotAModel(const std::string& folder, const FormatTable& formats) {
  std::vector<std::string> names = ModelFilesIn(folder, formats);
  if (names.size() > 5) names.resize(5);
  return InvalidModel("the folder has no known format", names.empty() ? "" : "; name a file in it, such as ",
                      Join(names, ", "), "; Tern reads ", formats.Readable(), " models");
}

Result<Loaded> Read(const Source& source, const LoadOptions& options, const FormatTable& formats) {
  if (!source.folder && source.bytes.size() == 0) return InvalidModel("the file is empty");
  const Format* format = formats.Find(source);
  if (!format && source.folder) return NotAModel(source.path, formats);
  if (IsCutZip(source.text()) && (!format || format->readable() || format->name == "zip"))
    return CutOff(source);
  if (!format)
    return InvalidModel("the format is unknown: neither the contents nor the extension match; Tern reads ",
                        formats.Readable(), " models");
  if (!format->readable()) return NotReadable(source, *format, formats);
  TERN_ASSIGN(const ReadFunction read, ReaderOf(*format));
  TERN_TRY(CheckOptions(options, *format));
  ReadContext context{options, {}};
  TERN_ASSIGN(std::unique_ptr<Graph> graph, read(source, context));
  return Loaded{std::move(graph), format, std::move(context.warnings)};
}

}  // namespace

bool BelongsToModel(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path file(path);
  return file.filename() == "config.pbtxt" ||
         (file.extension() == ".caffemodel" &&
          std::filesystem::exists(std::filesystem::path(file).replace_extension(".prototxt"), ignored));
}

std::vector<std::string> ModelFilesIn(const std::string& folder, const FormatTable& formats) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string(), name = it->path().filename().string();
    std::error_code ignored;
    const auto reads = [&](const Format& f) { return f.readable() && f.MatchesExtension(path); };
    if (name[0] != '.' && it->is_regular_file(ignored) && !BelongsToModel(path) &&
        std::any_of(formats.rows().begin(), formats.rows().end(), reads))
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<Loaded> LoadFile(const std::string& path, const LoadOptions& options, const FormatTable& formats) {
  std::error_code ignored;
  Source source{path, {}, std::filesystem::is_directory(path, ignored)};
  if (!source.folder) {
    TERN_ASSIGN(source.bytes, Buffer::MapFile(path));
  }
  auto loaded = Guard([&] { return Read(source, options, formats); });
  if (!loaded.ok()) return loaded.TakeStatus().While(StrCat("loading '", path, "'"));
  return loaded;
}

Result<Loaded> LoadBytes(const Buffer& bytes, const LoadOptions& options, const FormatTable& formats) {
  return Guard([&] { return Read(Source{"", bytes, false}, options, formats); });
}

}  // namespace tern::load
