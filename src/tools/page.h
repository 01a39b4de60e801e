// Builds self-contained web pages from the files in src/tools/pages, which the build embeds in the program.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace tern::tools {

// Returns the embedded file `name` with every @@KEY@@ replaced. The replacement is slots[KEY]. If `slots`
// has no such key, it is the embedded file KEY. A TERN_CHECK fails if this file does not exist. Keys in the
// replacement are not replaced.
std::string FillPage(std::string_view name, const std::map<std::string, std::string, std::less<>>& slots);

// Escapes JSON for a script element, so that the text "</script>" in it does not end the element.
std::string JsonForScript(std::string_view json);

// Escapes text for HTML and for double-quoted attributes of HTML. Control characters become \xNN.
std::string HtmlText(std::string_view text);

}  // namespace tern::tools
