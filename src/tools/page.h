// Self-contained web pages, assembled from the parts in src/tools/pages, which the build embeds.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tern::tools {

// Returns the embedded file `name` with every @@KEY@@ replaced by slots[KEY] or, without such an entry, by
// the embedded file KEY. Inserted text is not expanded again. Fails a CHECK when neither exists.
std::string FillPage(std::string_view name, const std::map<std::string, std::string, std::less<>>& slots);

// Escapes JSON for a script element, so that no text in it ends the element.
std::string JsonForScript(std::string_view json);

// Escapes text for HTML, also for double-quoted attributes. Control characters become visible.
std::string HtmlText(std::string_view text);

}  // namespace tern::tools
