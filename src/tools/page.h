// Self-contained web pages, put together from the parts in src/tools/pages, which the build embeds.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tern::tools {

// The embedded file `name` with every @@KEY@@ replaced: by slots[KEY] where that is given, otherwise by the
// embedded file KEY. Text that is put in is not searched again. Fails a CHECK when neither exists.
std::string FillPage(std::string_view name, const std::map<std::string, std::string, std::less<>>& slots);

// The JSON text for a script element: no text in it can end the element.
std::string JsonForScript(std::string_view json);

// The text for HTML, also between double quotes. Control characters become visible.
std::string HtmlText(std::string_view text);

}  // namespace tern::tools
