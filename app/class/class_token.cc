// convlab class token: creates, revokes and lists students' tokens for the class's web page.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/class/commands.h"
#include "convlab/base/error.h"
#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/web/access_tokens.h"

namespace convlab::app {
namespace {

struct TokenOptions {
  std::string folder;
  std::vector<std::string> names;
  bool revoke = false, list = false;
};

Json list_tokens(classroom::Store& store, Output& output) {
  Json all = Json::array();
  for (const classroom::TokenHolder& each : classroom::token_holders(store)) {
    output.print("{}  {}\n", classroom::time_text(each.made_s), each.name);
    all.push_back({{"name", each.name}, {"made", classroom::time_text(each.made_s)}});
  }
  if (all.empty()) output.print("No student has a token\n");
  return all;
}

Json revoke_tokens(classroom::Store& store, const std::vector<std::string>& names, Output& output) {
  Json all = Json::array();
  for (const std::string& name : names) {
    if (!classroom::revoke_token(store, name))
      throw bad_input("{} has no token; --list shows students with tokens", name);
    output.print("Revoked the token of {}\n", name);
    all.push_back({{"name", name}});
  }
  return all;
}

Json make_tokens(classroom::Store& store, const std::vector<std::string>& names, Output& output) {
  for (const std::string& name : names) classroom::require_student_name(name);
  Json all = Json::array();
  for (const std::string& name : names) {
    const std::string token = classroom::make_token(store, name);
    output.print("{}  {}\n", token, name);
    all.push_back({{"name", name}, {"token", token}});
  }
  note("tokens are shown only once; give each to its student now");
  return all;
}

void tokens(const TokenOptions& options, Output& output) {
  const classroom::Folder folder(options.folder);
  folder.require_owned("token");
  if (options.list != options.names.empty()) {
    throw bad_input("{}", options.list ? "--list does not accept student names" : "expected student names or --list");
  }
  classroom::Store store(folder.database());
  Json all = options.list     ? list_tokens(store, output)
             : options.revoke ? revoke_tokens(store, options.names, output)
                              : make_tokens(store, options.names, output);
  output.json({{"tokens", std::move(all)}});
}

}  // namespace

Action declare_class_token(CLI::App& options) {
  auto chosen = std::make_shared<TokenOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  add_texts(options, "NAME", chosen->names, 0, kAnyNumber, "NAME",
            "students; each gets a new token, shown once, which replaces any earlier one");
  CLI::Option* revoke = add_flag(options, "--revoke", chosen->revoke, "revoke the tokens of these students");
  exclude(add_flag(options, "--list", chosen->list, "list students with tokens and when each token was created"),
          revoke);
  return [chosen](Output& output) { tokens(*chosen, output); };
}

}  // namespace convlab::app
