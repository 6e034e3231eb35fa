// convlab-jail: what the judge starts inside of jails, beside somebody else's kernel file. It holds no kernel and no library
// that a file could call in the place of its own.
//
//   convlab-jail record|replay|run REQUEST.json     see convlab/judge/inside.h
//   convlab-jail libraries                      what a jail must show for this program to start

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/judge/inside.h"

int main(int argc, char** argv) {
  using namespace convlab;
  const std::string work = argc > 1 ? argv[1] : "";
  if (work == "libraries") {
    std::fputs(judge::libraries_of_program().c_str(), stdout);
    return 0;
  }
  if (argc != 3 || (work != "record" && work != "replay" && work != "run")) {
    std::fputs("convlab-jail is started by 'convlab class judge'\n", stderr);
    return 2;
  }
  try {
    constexpr int64_t kMostBytes = 1 << 20;
    const std::vector<uint8_t> bytes = read_file(argv[2], kMostBytes);
    const judge::Json request = parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, argv[2]);
    if (work == "record") judge::record_inside(request);
    if (work == "replay") judge::replay_inside(request);
    if (work == "run") judge::run_inside(request);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fflush(nullptr);
  std::_Exit(0);  // what the file wants to do at the end, nobody waits for
}
