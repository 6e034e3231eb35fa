// convlab-jail: the program that the judge starts inside jails, next to an untrusted kernel file. It contains no
// kernels and no libraries that the file could call instead of its own.
//
//   convlab-jail read|record|replay|run REQUEST.json   see convlab/judge/inside_jail.h
//   convlab-jail libraries                             prints what a jail must show for this program to start

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "convlab/judge/inside_jail.h"

int main(int argc, char** argv) {
  using namespace convlab;
  const std::string work = argc > 1 ? argv[1] : "";
  if (work == "libraries") {
    std::fputs(judge::libraries_of_program().c_str(), stdout);
    return 0;
  }
  if (argc != 3) {
    std::fputs("convlab-jail is internal; 'convlab class judge' starts it\n", stderr);
    return 2;
  }
  try {
    judge::work_inside(work, argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::fflush(nullptr);
  std::_Exit(0);  // do not wait for what the file does at exit
}
