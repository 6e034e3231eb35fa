// Keeps the host memory of a replayed launch list.

#include "convlab/judge/replayed_memory.h"

#include <algorithm>
#include <cstring>

namespace convlab::judge {

const void* HostMemory::at(const HostBytes& source) const {
  switch (source.kind) {
    case HostBytes::Kind::x:
      return x_.data() + source.offset;
    case HostBytes::Kind::w:
      return w_.data() + source.offset;
    case HostBytes::Kind::download:
      return downloads_.at(static_cast<size_t>(source.download)).data() + source.offset;
    case HostBytes::Kind::literal:
      break;
  }
  return source.literal.data();
}

char* HostMemory::next_download(int64_t bytes) { return downloads_.emplace_back(static_cast<size_t>(bytes)).data(); }

void HostMemory::put_together(const std::vector<OutputPiece>& output, std::span<char> y) const {
  std::ranges::fill(y, char{0});
  char* to = y.data();
  for (const OutputPiece& piece : output) {
    if (piece.download >= 0) {
      std::memcpy(to, downloads_.at(static_cast<size_t>(piece.download)).data() + piece.offset,
                  static_cast<size_t>(piece.bytes));
    }
    to += piece.bytes;
  }
}

}  // namespace convlab::judge
