// Builds self-contained web pages from the files in src/tools/pages, which the build embeds in the program.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tern::tools {

// Returns the embedded file `name` with every @@KEY@@ replaced. The replacement is slots[KEY], or if `slots`
// has no such key, the embedded file KEY. Replaced text is not searched for further keys. A TERN_CHECK fails
// if neither exists.
std::string FillPage(std::string_view name, const std::map<std::string, std::string, std::less<>>& slots);

// Escapes JSON for a script element, so that the text "</script>" in it does not end the element.
std::string JsonForScript(std::string_view json);

// Escapes text for HTML and for double-quoted attributes of HTML. Control characters become \xNN.
std::string HtmlText(std::string_view text);

}  // namespace tern::tools
