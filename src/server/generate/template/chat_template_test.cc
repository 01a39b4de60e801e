#include "server/generate/template/chat_template.h"

#include <gtest/gtest.h>

namespace tern::server {
namespace {

std::string Render(std::string_view text, std::string_view variables = "{}") {
  const auto parsed = ChatTemplate::Parse(text);
  if (!parsed.ok()) return parsed.status().ToString();
  const auto values = ParseValue(variables);
  EXPECT_TRUE(values.ok()) << values.status().ToString();
  const auto out = (*parsed)->Render(*values);
  return out.ok() ? *out : out.status().ToString();
}

constexpr char kChat[] =
    R"({"messages":[{"role":"system","content":" Be brief. "},{"role":"user","content":"Hi"}],"add_generation_prompt":true,"bos_token":"<s>","eos_token":"</s>"})";

TEST(ChatTemplate, ChatMl) {
  EXPECT_EQ(
      Render(
          "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + "
          "'<|im_end|>' + '\\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
          "{% endif %}",
          kChat),
      "<|im_start|>system\n Be brief. <|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, Llama2) {
  EXPECT_EQ(
      Render(
          "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
          "{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}"
          "{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
          "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
          "{{ raise_exception('roles must alternate') }}{% endif %}"
          "{% if loop.index0 == 0 and system_message != false %}"
          "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}"
          "{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}"
          "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
          "{{ ' ' + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
          kChat),
      "<s>[INST] <<SYS>>\n Be brief. \n<</SYS>>\n\nHi [/INST]");
}

TEST(ChatTemplate, NamespacesMacrosAndWhiteSpace) {
  EXPECT_EQ(Render(R"({%- macro turn(role, content='?') -%}
[{{ role }}: {{ content|trim }}]
{%- endmacro -%}
{%- set ns = namespace(found=false, n=0) -%}
{%- for message in messages if message.role != 'tool' -%}
  {%- set ns.n = ns.n + 1 -%}
  {%- if message.role == "user" and not ns.found -%}
    {%- set ns.found = true -%}
  {%- endif -%}
  {{ turn(message.role, content=message.content) }}
{%- endfor -%}
{{- ns.n ~ ' ' ~ ns.found }}{{ turn('x') }})",
                   kChat),
            "[system: Be brief.][user: Hi]2 True[x: ?]");
  EXPECT_EQ(Render("a\n  {% if true %}\n  b\n  {% endif %}\nc\n"), "a\n  b\nc");
  EXPECT_EQ(Render("a {#- comment -#} b"), "ab");
  EXPECT_EQ(Render("{% set x %}<{{ 1 + 2 }}>{% endset %}{{ x }}{{ x|length }}"), "<3>3");
  EXPECT_EQ(Render("{% filter trim | replace('b', 'c') %} a{{ 'b' }} {% endfilter %}|"), "ac|");
  EXPECT_EQ(Render("{{ strftime_now is defined }}{{ strptime is defined }}"), "TrueFalse");
}

TEST(ChatTemplate, LoopsAndJumps) {
  EXPECT_EQ(Render("{% for i in range(5) %}{% if i == 1 %}{% continue %}{% endif %}{% if i == 3 %}{% break %}"
                   "{% endif %}{{ i }}{% if not loop.last %},{% endif %}{% endfor %}"),
            "0,2,");
  EXPECT_EQ(Render("{% for k, v in d.items() %}{{ k }}={{ v }};{% else %}none{% endfor %}",
                   R"({"d":{"a":1,"b":null}})"),
            "a=1;b=None;");
  EXPECT_EQ(Render("{% for x in [] %}{{ x }}{% else %}none{% endfor %}"), "none");
  EXPECT_EQ(Render("{% for x in 'aé' %}{{ loop.index }}{{ x }}{{ loop.nextitem is defined }}{% endfor %}"),
            "1aTrue2éFalse");
}

TEST(ChatTemplate, Expressions) {
  const auto value = [](const std::string& e) {
    return Render("{{ " + e + " }}", R"({"d":{"a":[1,2.5,"x"]},"s":"a-b-c"})");
  };
  EXPECT_EQ(value("1 + 2 * 3 - -4 // 3"), "9");
  EXPECT_EQ(value("7 / 2"), "3.5");
  EXPECT_EQ(value("-7 // 2 ~ ':' ~ -7 % 3"), "-4:2");
  EXPECT_EQ(value("d.a[-1] ~ d['a'][0:2]"), "x[1, 2.5]");
  EXPECT_EQ(value("s.split('-')[::-1] | join('+')"), "c+b+a");
  EXPECT_EQ(value("'a' in s and 'z' not in s"), "True");
  EXPECT_EQ(value("(s is string) ~ (d is mapping) ~ (q is defined) ~ (d.a is iterable)"),
            "TrueTrueFalseTrue");
  EXPECT_EQ(value("'yes' if s else 'no'"), "yes");
  EXPECT_EQ(value("q | default('none') ~ (none | default('x', true))"), "nonex");
  EXPECT_EQ(value("d | tojson"), R"({"a": [1, 2.5, "x"]})");
  EXPECT_EQ(value("s[1:3] ~ s|upper ~ s|replace('-', '')"), "-bA-B-Cabc");
  EXPECT_EQ(value("d.get('q', 5) ~ d.keys()|list"), "5['a']");
  EXPECT_EQ(value("[{'r': 1}, {'r': 2}] | selectattr('r', 'equalto', 2) | map(attribute='r') | first"), "2");
  EXPECT_EQ(value("s.startswith('a') ~ s.endswith(('x', 'c'))"), "TrueTrue");
  EXPECT_EQ(value("3 is odd ~ 4 is divisibleby 2"), "TrueTrue");
  EXPECT_EQ(value("{} | length == 0 and not none"), "True");
}

TEST(ChatTemplate, NamesWhatItDoesNotSupport) {
  const auto fails = [](const char* text, const char* message) {
    const auto parsed = ChatTemplate::Parse(text);
    EXPECT_EQ(parsed.status().code(), Code::kUnsupported) << text;
    EXPECT_NE(parsed.status().message().find(message), std::string::npos) << parsed.status().ToString();
  };
  fails("\n{% include 'x' %}", "line 2: the statement 'include'");
  fails("{{ x | urlize }}", "the filter 'urlize'");
  fails("{{ x is sameas y }}", "the test 'sameas'");
  fails("{{ x.append(1) }}", "the method 'append'");
  fails("{{ lipsum() }}", "the function 'lipsum'");
}

TEST(ChatTemplate, RefusesWrongSyntax) {
  for (const char* text : {"{{ x", "{% if x %}", "{{ }}", "{% endfor %}", "{{ 'a }}", "{{ (1 }}", "{{ 1 + }}",
                           "{# x", "{% for in x %}", "{% set x.y.z = 1 %}", "{{ a b }}", "{% else %}"})
    EXPECT_FALSE(ChatTemplate::Parse(text).ok()) << text;
}

TEST(ChatTemplate, LimitsItsWork) {
  const auto fails = [](const std::string& text) {
    const auto parsed = ChatTemplate::Parse(text);
    if (!parsed.ok()) return parsed.status().message();
    return (*parsed)->Render(TemplateValue::Object()).status().message();
  };
  EXPECT_NE(fails("{% for a in range(9999) %}{% for b in range(9999) %}{{ 1 }}{% endfor %}{% endfor %}")
                .find("steps"),
            std::string::npos);
  EXPECT_NE(fails("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").find("nested"), std::string::npos);
  EXPECT_NE(fails("{{ 'abc' * 99999999 }}").find("bytes"), std::string::npos);
  EXPECT_NE(
      fails("{% set n = namespace(a=[]) %}{% for i in range(999) %}{% set n.a = [n.a, n.a] %}{% endfor %}")
          .find("nested"),
      std::string::npos);
  EXPECT_NE(fails("{% set n = namespace() %}{% set n.a = [n] %}").find("itself"), std::string::npos);
  std::string deep, chain = "{{ x", brackets(100'000, '(');
  for (int i = 0; i < 100'000; ++i) deep += "{% if x %}", chain += ".a";
  for (const std::string& text :
       {deep, chain + " }}", "{{ " + brackets + " }}", "{{ " + std::string(100'000, '-') + "1 }}"})
    EXPECT_FALSE(ChatTemplate::Parse(text).ok());
}

TEST(ChatTemplate, ErrorsNameTheLine) {
  EXPECT_NE(Render("a\n{{ raise_exception('roles must alternate') }}").find("line 2: roles must alternate"),
            std::string::npos);
  EXPECT_NE(Render("{{ x.y }}").find("line 1: the member 'y' of an undefined value"), std::string::npos);
  EXPECT_NE(Render("{{ 1 + 'a' }}").find("the operator + cannot be applied to integer and string"),
            std::string::npos);
}

}  // namespace
}  // namespace tern::server
