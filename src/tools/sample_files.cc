#include "tools/sample_files.h"

#include "tools/feeds.h"

namespace tern::tools {

Result<std::unique_ptr<compress::Samples>> OpenSamples(const std::string& path, const Graph& graph,
                                                       const data::ImageOptions& pictures, int64_t limit) {
  const auto read = [pictures](const Graph& g, const std::string& file, Feeds& feeds) {
    return AddFeed(g, file, pictures, feeds);
  };
  return quantize::OpenSamples(path, graph, read, limit, OrderFeeds);
}

Result<data::ImageOptions> PreprocessOf(const std::string& name) {
  return quantize::PreprocessOf(name, "--preprocess");
}

}  // namespace tern::tools
