#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "convlab/base/clock.h"

namespace convlab::classroom {

/// Connections to the web page, one request each. A single thread reads and writes all of them without blocking, so
/// slow clients do not delay others: only complete requests are passed on, and complete answers are handed back.
///
/// Limits per connection: its bytes, the time for its headers, between two bytes, and in total. Limits in total: the
/// number of connections, beyond which the address with the most connections loses its oldest one, and the bytes held,
/// beyond which the connection with the most bytes is closed.
class Connections {
 public:
  /// `handle` receives a complete request, or as much of it as was read, in this object's thread. It must return soon.
  /// answer() may be called from any thread.
  explicit Connections(std::function<void(int64_t id, std::string request)> handle);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Takes ownership of an accepted socket.
  void add(int socket);

  /// Sends the answer to a request. The connection then ends.
  void answer(int64_t id, std::string text);

 private:
  enum class State : uint8_t { reading, handled, writing, leaving };
  struct Connection {
    int64_t id = 0;
    int socket = -1;
    std::string address;
    State state = State::reading;
    Clock::time_point begun = Clock::now(), moved = begun;  ///< start of this state, and time of its last byte
    std::string text;                                       ///< of the request or of the answer
    size_t whole = 0;                                       ///< size of the request; 0: its headers are incomplete
    size_t done = 0;                                        ///< bytes of the answer sent, or of input discarded
    size_t handed_on = 0;                                   ///< size of the request while it is handled
    size_t held() const { return text.size() + handed_on; }
  };
  using All = std::list<Connection>;

  void run();
  void take_messages();
  void enter(Connection& connection, State state);
  /// Returns false if the connection has ended.
  bool read(Connection& connection);
  bool write(Connection& connection);
  bool drop_what_comes(Connection& connection);
  double left_s(const Connection& connection) const;
  void make_room();
  All::iterator end(All::iterator connection);

  std::function<void(int64_t, std::string)> handle_;
  int wake_ = -1;
  std::mutex mutex_;  ///< guards accepted_ and answers_
  std::vector<int> accepted_;
  std::vector<std::pair<int64_t, std::string>> answers_;
  bool ends_ = false;
  All all_;  ///< oldest first
  int64_t next_id_ = 1;
  std::thread thread_;
};

/// Returns the size of a request from its headers, or 0 if they are incomplete. If the headers are too long, the
/// request is what was read; if they have no valid length, it ends with them.
size_t request_bytes(const std::string& text);

}  // namespace convlab::classroom
