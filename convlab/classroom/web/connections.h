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

/// Connections to the page, each with one request. One thread reads and writes them all, as their visitors' lines
/// allow, so that however many are slow, none holds up another: only whole requests are handed on, and answers are
/// handed back whole.
///
/// Each has limits: its bytes, the time for its headers, between two bytes, and in all. So many are held at once, and
/// so many bytes; beyond that the address with the most connections loses its oldest one, and the one with the most
/// bytes ends.
class Connections {
 public:
  /// `handle` gets a whole request, or as much of it as is read, in the thread of this object: it must return soon, and
  /// answer() may be called from any thread.
  explicit Connections(std::function<void(int64_t id, std::string request)> handle);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// One that was accepted; it is closed here.
  void add(int socket);

  /// What its request gets. The connection then ends.
  void answer(int64_t id, std::string text);

 private:
  enum class State : uint8_t { reading, handled, writing, leaving };
  struct Connection {
    int64_t id = 0;
    int socket = -1;
    std::string address;
    State state = State::reading;
    Clock::time_point begun = Clock::now(), moved = begun;  ///< this state, and its last byte
    std::string text;                                       ///< of the request or of the answer
    size_t whole = 0;                                       ///< bytes of the request; 0: its headers are not there yet
    size_t done = 0;                                        ///< bytes of the answer that are sent, or that were dropped
    size_t handed_on = 0;                                   ///< bytes of the request, while it is handled
    size_t held() const { return text.size() + handed_on; }
  };
  using All = std::list<Connection>;

  void run();
  void take_messages();
  void enter(Connection& connection, State state);
  /// False: it has ended.
  bool read(Connection& connection);
  bool write(Connection& connection);
  bool drop_what_comes(Connection& connection);
  double left_s(const Connection& connection) const;
  void make_room();
  All::iterator end(All::iterator connection);

  std::function<void(int64_t, std::string)> handle_;
  int wake_ = -1;
  std::mutex mutex_;  ///< of the messages
  std::vector<int> accepted_;
  std::vector<std::pair<int64_t, std::string>> answers_;
  bool ends_ = false;
  All all_;  ///< the oldest first
  int64_t next_id_ = 1;
  std::thread thread_;
};

/// How many bytes a request has, by its headers: 0 where they are not complete yet. Where they say nothing of use, what
/// is there is the whole.
size_t request_bytes(const std::string& text);

}  // namespace convlab::classroom
