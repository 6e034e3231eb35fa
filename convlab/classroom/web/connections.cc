// Handles the connections to the class's web page in one thread.

#include "convlab/classroom/web/connections.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/classroom/web/class_site.h"

namespace convlab::classroom {
namespace {

constexpr size_t kMostConnections = 512;
constexpr size_t kMostHeaderBytes = size_t{64} << 10;
constexpr size_t kMostRequestBytes = static_cast<size_t>(kMostBodyBytes) + kMostHeaderBytes;
constexpr size_t kMostHeldBytes = size_t{64} << 20;  // of all connections together
constexpr size_t kMostDroppedBytes = size_t{32}
                                     << 20;  // received after the answer, for example of a file that is much too large
constexpr double kMostHeaders_s = 5, kMostIdle_s = 5, kMostRequest_s = 30, kMostAnswer_s = 30, kMostGoodbye_s = 2;

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

/// Returns the address of the client, or of the reverse proxy.
std::string address_of(int socket) {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return "";
  if (peer.ss_family == AF_INET) {
    const auto* four = reinterpret_cast<const sockaddr_in*>(&peer);
    return {reinterpret_cast<const char*>(&four->sin_addr), sizeof four->sin_addr};
  }
  constexpr size_t kNetwork = 8;  // bytes of an IPv6 address's network part; clients choose the remaining bytes
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&peer);
  return {reinterpret_cast<const char*>(&six->sin6_addr), kNetwork};
}

bool is_same(char one, char other) {
  return std::tolower(static_cast<unsigned char>(one)) == std::tolower(static_cast<unsigned char>(other));
}

}  // namespace

size_t request_bytes(const std::string& text) {
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return text.size() > kMostHeaderBytes ? text.size() : 0;
  const size_t headers = end + 4;
  constexpr std::string_view kName = "\r\nContent-Length:";
  auto value =
      std::search(text.begin(), text.begin() + static_cast<ptrdiff_t>(end), kName.begin(), kName.end(), is_same);
  if (value == text.begin() + static_cast<ptrdiff_t>(end)) return headers;
  value += kName.size();
  while (*value == ' ' || *value == '\t') ++value;
  size_t body = 0;
  const auto [rest, error] = std::from_chars(&*value, text.data() + end, body);
  // A body that is too large is refused by its headers alone.
  return error == std::errc() && body <= static_cast<size_t>(kMostBodyBytes) ? headers + body : headers;
}

Connections::Connections(std::function<void(int64_t, std::string)> handle)
    : handle_(std::move(handle)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { run(); }) {}

Connections::~Connections() {
  {
    const std::scoped_lock lock(mutex_);
    ends_ = true;
  }
  ::eventfd_write(wake_, 1);
  thread_.join();
  while (!all_.empty()) end(all_.begin());
  ::close(wake_);
}

void Connections::add(int socket) {
  {
    const std::scoped_lock lock(mutex_);
    accepted_.push_back(socket);
  }
  ::eventfd_write(wake_, 1);
}

void Connections::answer(int64_t id, std::string text) {
  {
    const std::scoped_lock lock(mutex_);
    answers_.emplace_back(id, std::move(text));
  }
  ::eventfd_write(wake_, 1);
}

void Connections::enter(Connection& connection, State state) {
  connection.state = state;
  connection.begun = connection.moved = Clock::now();
  connection.done = 0;
}

void Connections::take_messages() {
  std::vector<int> accepted;
  std::vector<std::pair<int64_t, std::string>> answers;
  {
    const std::scoped_lock lock(mutex_);
    accepted.swap(accepted_);
    answers.swap(answers_);
  }
  for (const int socket : accepted) {
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    all_.push_back({.id = next_id_++, .socket = socket, .address = address_of(socket)});
  }
  for (auto& [id, text] : answers) {
    const auto found = std::ranges::find(all_, id, &Connection::id);
    if (found == all_.end()) continue;
    enter(*found, State::writing);
    found->text = std::move(text);
    found->handed_on = 0;
  }
}

bool Connections::read(Connection& connection) {
  std::array<char, 16384> bytes;
  const ssize_t count = ::recv(connection.socket, bytes.data(), bytes.size(), 0);
  if (count < 0) return would_block();
  if (count == 0) return false;
  connection.moved = Clock::now();
  connection.text.append(bytes.data(), static_cast<size_t>(count));
  if (connection.whole == 0) connection.whole = request_bytes(connection.text);
  const bool is_whole = connection.whole > 0 && connection.text.size() >= connection.whole;
  if (!is_whole && connection.text.size() < kMostRequestBytes) return true;
  enter(connection, State::handled);
  connection.handed_on = connection.text.size();
  handle_(connection.id, std::exchange(connection.text, {}));
  return true;
}

bool Connections::write(Connection& connection) {
  const ssize_t count = ::send(connection.socket, connection.text.data() + connection.done,
                               connection.text.size() - connection.done, MSG_NOSIGNAL);
  if (count < 0) return would_block();
  connection.moved = Clock::now();
  connection.done += static_cast<size_t>(count);
  if (connection.done < connection.text.size()) return true;
  // Discard input for a moment: closing now could reset the connection before the visitor sees the answer.
  connection.text = {};
  ::shutdown(connection.socket, SHUT_WR);
  enter(connection, State::leaving);
  return true;
}

bool Connections::drop_what_comes(Connection& connection) {
  std::array<char, 16384> bytes;
  const ssize_t count = ::recv(connection.socket, bytes.data(), bytes.size(), 0);
  if (count < 0) return would_block();
  connection.done += static_cast<size_t>(count);
  return count > 0 && connection.done < kMostDroppedBytes;
}

double Connections::left_s(const Connection& connection) const {
  const double begun_s = seconds_since(connection.begun), idle_s = seconds_since(connection.moved);
  switch (connection.state) {
    case State::reading:
      if (connection.whole == 0) return kMostHeaders_s - begun_s;
      return std::min(kMostIdle_s - idle_s, kMostRequest_s - begun_s);
    case State::writing:
      return std::min(kMostIdle_s - idle_s, kMostAnswer_s - begun_s);
    case State::leaving:
      return kMostGoodbye_s - begun_s;
    case State::handled:
      break;
  }
  return kMostRequest_s;
}

Connections::All::iterator Connections::end(All::iterator connection) {
  ::close(connection->socket);
  return all_.erase(connection);
}

void Connections::make_room() {
  const auto may_end = [](const Connection& each) { return each.state != State::handled; };
  while (all_.size() > kMostConnections) {
    std::map<std::string, size_t> counts;
    for (const Connection& each : all_) ++counts[each.address];
    const std::string most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; })->first;
    const auto oldest =
        std::ranges::find_if(all_, [&](const Connection& each) { return each.address == most && may_end(each); });
    if (oldest == all_.end()) break;  // all are being handled
    end(oldest);
  }
  for (;;) {
    size_t bytes = 0;
    for (const Connection& each : all_) bytes += each.held();
    if (bytes <= kMostHeldBytes) break;
    const auto largest = std::ranges::max_element(
        all_, {}, [&](const Connection& each) { return may_end(each) ? each.held() : size_t{0}; });
    if (!may_end(*largest)) break;
    end(largest);
  }
}

void Connections::run() {
  std::vector<pollfd> events;
  for (;;) {
    {
      const std::scoped_lock lock(mutex_);
      if (ends_) return;
    }
    take_messages();
    make_room();
    double soonest_s = kMostRequest_s;
    events.assign(1, {.fd = wake_, .events = POLLIN, .revents = 0});
    for (auto each = all_.begin(); each != all_.end();) {
      const double left = left_s(*each);
      if (left <= 0) {
        each = end(each);
        continue;
      }
      soonest_s = std::min(soonest_s, left);
      const bool waits = each->state == State::handled;
      const short event = each->state == State::writing ? POLLOUT : POLLIN;
      // poll ignores negative descriptors.
      events.push_back({.fd = waits ? -1 : each->socket, .events = event, .revents = 0});
      ++each;
    }
    constexpr double kMs = 1e3;
    ::poll(events.data(), events.size(), static_cast<int>(kMs * soonest_s) + 1);
    eventfd_t count = 0;
    ::eventfd_read(wake_, &count);
    size_t i = 1;
    for (auto each = all_.begin(); each != all_.end(); ++i) {
      const bool is_ready = events[i].revents != 0;
      const bool lives = !is_ready                       ? true
                         : each->state == State::reading ? read(*each)
                         : each->state == State::writing ? write(*each)
                                                         : drop_what_comes(*each);
      each = lives ? std::next(each) : end(each);
    }
  }
}

}  // namespace convlab::classroom
