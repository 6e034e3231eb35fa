#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/source_tree.h"

namespace convlab {

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Returns the commands that a help text lists, in lines like "  run   Classify ...".
inline std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> commands;
  bool listed = false;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) listed = line == "Subcommands:";
    const std::vector<std::string> words = words_of(line);
    if (listed && line.starts_with("  ") && !line.starts_with("    ") && !words.empty()) commands.push_back(words[0]);
  }
  return commands;
}

/// A Markdown document's code and text: lines of its fenced or indented code blocks, except for ```console blocks,
/// which shown_outputs_test reads; its paragraphs; and its inline code in backticks.
struct MarkdownCode {
  std::vector<std::string> block_lines, paragraphs, inline_code;
};

inline MarkdownCode code_of(const std::string& text) {
  MarkdownCode code;
  std::istringstream lines(text);
  std::string paragraph;
  bool fenced = false, indented = false, console = false;
  const auto finish = [&] {
    for (size_t mark = paragraph.find('`'); mark != std::string::npos;) {
      const size_t begin = paragraph.find_first_not_of('`', mark), end = paragraph.find('`', begin);
      if (end == std::string::npos) break;
      code.inline_code.push_back(paragraph.substr(begin, end - begin));
      mark = paragraph.find('`', paragraph.find_first_not_of('`', end));
    }
    if (!paragraph.empty()) code.paragraphs.push_back(std::exchange(paragraph, ""));
  };
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find_first_not_of(" \t");
    const bool empty = begin == std::string::npos;
    const bool fence = !empty && line.compare(begin, 3, "```") == 0;
    const bool deep = line.starts_with("    ") || line.starts_with('\t');
    // An indented block begins after an empty line. Indented text in a list continues the paragraph.
    indented = !fenced && !fence && deep && (indented || paragraph.empty());
    if (fence || empty || indented) finish();
    if (fence) {
      fenced = !fenced;
      console = fenced && line == "```console";
    } else if (console) {
      continue;
    } else if (!empty && (fenced || indented)) {
      const bool goes_on = !code.block_lines.empty() && code.block_lines.back().ends_with('\\');
      if (goes_on) {
        code.block_lines.back().back() = ' ';
        code.block_lines.back() += line.substr(begin);
      } else {
        code.block_lines.push_back(line.substr(begin));
      }
    } else if (!empty) {
      paragraph += line + " ";
    }
  }
  finish();
  return code;
}

/// Extracts the command from a line of code: "./run.sh -n 3" from "$ ./run.sh -n 3   # a comment". Returns "" if the
/// line does not begin with one of these programs, a path or a script.
inline std::string command_in(const std::string& code) {
  static const std::set<std::string> kPrograms{"convlab", "cmake",  "ninja",   "ctest", "git",   "python3",
                                               "pip",     "sudo",   "apt-get", "bash",  "mkdir", "cp",
                                               "for",     "docker", "curl",    "wget",  "nvcc",  "compute-sanitizer"};
  std::vector<std::string> words = words_of(code);
  if (!words.empty() && words[0] == "$") words.erase(words.begin());
  if (words.empty()) return "";
  const std::string& first = words[0];
  const bool path = first.starts_with("./") || first.starts_with("build/");
  const bool script = first.ends_with(".sh") || first.ends_with(".py") || first.ends_with("/convlab");
  if (!kPrograms.contains(first) && !path && !script) return "";
  std::string command;
  for (const std::string& word : words) {
    if (word == "#") break;
    command += (command.empty() ? "" : " ") + word;
  }
  return command;
}

/// Collects shown commands and where they are shown. All commands in code blocks count; in inline code, only convlab
/// commands with arguments, because `convlab bench` alone names a command, `convlab run --json` an option, and
/// `build/x.sh` a file.
inline void add_shown_commands(const std::string& markdown, const std::string& place,
                               std::map<std::string, std::string>& commands) {
  const MarkdownCode code = code_of(markdown);
  for (const std::string& line : code.block_lines) {
    if (const std::string command = command_in(line); !command.empty()) commands.emplace(command, place);
  }
  for (const std::string& text : code.inline_code) {
    const std::string command = command_in(text);
    const std::vector<std::string> words = words_of(command);
    const size_t name = words.size() > 1 && words[1] == "class" ? 3 : 2;  // `convlab class status` names a command, too
    if (words.size() > name && !words.back().starts_with('-') &&
        (words[0].ends_with("convlab") || words[0] == "./run.sh"))
      commands.emplace(command, place);
  }
}

}  // namespace convlab
