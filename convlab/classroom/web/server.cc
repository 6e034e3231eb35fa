#include "convlab/classroom/web/server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <poll.h>

#include <array>
#include <semaphore>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"

namespace convlab::classroom {
namespace {

constexpr size_t kThreads = 64;
constexpr ptrdiff_t kMostConnections = 512;  // answered or waiting
constexpr double kMostIdle_s = 5, kMostRequest_s = 30, kMostGoodbye_s = 2;
constexpr int64_t kMostRequestBytes = kMostBodyBytes + (int64_t{64} << 10);  // with its headers
constexpr int64_t kMostGoodbyeBytes = int64_t{32} << 20;  // of a file that is much too large, by mistake

/// A connection that ends when it is too slow or brings too much, whatever the library makes of what it reads.
class Connection : public httplib::Stream {
 public:
  explicit Connection(socket_t socket) : socket_(socket) {}
  ~Connection() override {
    // What the visitor is still sending is read for a moment: otherwise he may not see our answer.
    ::shutdown(socket_, SHUT_WR);
    left_ = kMostGoodbyeBytes;
    const Clock::time_point goodbye = Clock::now();
    while (seconds_since(goodbye) < kMostGoodbye_s && fill(kMostGoodbye_s)) {
    }
    ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool is_readable() const override { return begin_ < end_ || await(POLLIN, kMostIdle_s); }
  bool is_writable() const override { return await(POLLOUT, kMostIdle_s); }

  ssize_t read(char* bytes, size_t size) override {
    if (begin_ == end_ && !fill(kMostIdle_s)) return -1;
    const size_t count = std::min(size, end_ - begin_);
    std::copy_n(buffer_.data() + begin_, count, bytes);
    begin_ += count;
    return static_cast<ssize_t>(count);
  }

  ssize_t write(const char* bytes, size_t size) override {
    return is_writable() ? ::send(socket_, bytes, size, MSG_NOSIGNAL) : -1;
  }

  // Nobody asks who is there: a server before this one hides it.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}
  socket_t socket() const override { return socket_; }

 private:
  bool await(short event, double most_s) const {
    const double left_s = std::min(most_s, kMostRequest_s - seconds_since(begun_));
    pollfd each{.fd = socket_, .events = event, .revents = 0};
    return left_s > 0 && ::poll(&each, 1, static_cast<int>(1e3 * left_s)) == 1;
  }

  /// False: nothing more comes, or may come.
  bool fill(double most_s) {
    begin_ = end_ = 0;
    if (left_ <= 0 || !await(POLLIN, most_s)) return false;
    const ssize_t count = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (count <= 0) return false;
    end_ = static_cast<size_t>(count);
    left_ -= count;
    return true;
  }

  socket_t socket_;
  Clock::time_point begun_ = Clock::now();
  int64_t left_ = kMostRequestBytes;
  std::array<char, 16384> buffer_{};
  size_t begin_ = 0, end_ = 0;
};

/// The library's threads, with an end to what waits for them: until there is room the next connection is not accepted.
class BoundedQueue : public httplib::TaskQueue {
 public:
  using Answer = decltype(std::declval<httplib::TaskQueue>().enqueue({}));  // bool since 0.15, which we always accept

  Answer enqueue(std::function<void()> task) override {
    room_.acquire();
    pool_.enqueue([this, task = std::move(task)] {
      task();
      room_.release();
    });
    return static_cast<Answer>(true);
  }
  void shutdown() override { pool_.shutdown(); }

 private:
  std::counting_semaphore<kMostConnections> room_{kMostConnections};
  httplib::ThreadPool pool_{kThreads};
};

using NoSetup = std::function<void(httplib::Request&)>;

class BoundedServer : public httplib::Server {
 private:
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket);
    return process_once(&BoundedServer::process_request, connection);
  }

  // The library's versions differ in what they want to be told.
  bool process_once(bool (httplib::Server::*process)(httplib::Stream&, bool, bool&, const NoSetup&),
                    Connection& connection) {
    bool closed = false;
    return (this->*process)(connection, true, closed, nullptr);
  }
  bool process_once(bool (httplib::Server::*process)(httplib::Stream&, const std::string&, int, const std::string&, int,
                                                     bool, bool&, const NoSetup&),
                    Connection& connection) {
    bool closed = false;
    return (this->*process)(connection, "", 0, "", 0, true, closed, nullptr);
  }
};

Visit visit_of(const httplib::Request& request) {
  Visit visit{.method = request.method,
              .path = request.path,
              .cookies = request.get_header_value("Cookie"),
              .is_encrypted = request.get_header_value("X-Forwarded-Proto") == "https"};
  for (const auto& [name, value] : request.params) visit.fields.emplace(name, value);
  for (const auto& [name, part] : request.files) {
    visit.fields.emplace(name, name == "file" ? "" : part.content);
    if (name != "file") continue;
    visit.file_name = part.filename;
    visit.file = part.content;
  }
  return visit;
}

void answer(const Reply& reply, httplib::Response& response) {
  response.status = reply.status;
  response.set_content(reply.body, reply.type);
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  if (reply.headers.count("Cache-Control") == 0) response.set_header("Cache-Control", "no-store");
  // Nothing is loaded from anywhere else, no script runs, and nobody puts a page into a frame.
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
                      "frame-ancestors 'none'");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "same-origin");
}

}  // namespace

void serve(const Site& site, const ServerOptions& options) {
  BoundedServer server;
  server.new_task_queue = [] { return new BoundedQueue; };
  server.set_payload_max_length(static_cast<size_t>(kMostBodyBytes));
  const auto reply = [&](const httplib::Request& request, httplib::Response& response) {
    answer(site.reply(visit_of(request)), response);
  };
  // The library would share the port with whoever has it.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // What brings no form is answered before its body is read.
  server.set_pre_routing_handler([&](const httplib::Request& request, httplib::Response& response) {
    if (request.method == "POST" && is_form_path(request.path)) return httplib::Server::HandlerResponse::Unhandled;
    reply(request, response);
    return httplib::Server::HandlerResponse::Handled;
  });
  server.Post("/[a-z]+", reply);
  server.set_error_handler([&](const httplib::Request&, httplib::Response& response) {
    if (response.body.empty()) answer(site.refusal(response.status), response);
  });
  server.set_exception_handler(
      [&](const httplib::Request&, httplib::Response& response, const auto&) { answer(site.refusal(503), response); });
  const int port = options.port == 0                                    ? server.bind_to_any_port(options.address)
                   : server.bind_to_port(options.address, options.port) ? options.port
                                                                        : -1;
  if (port < 0) {
    throw bad_input("cannot listen on {}, port {}: {}; give another --port or --bind", options.address, options.port,
                    std::strerror(errno));
  }
  options.ready(port);
  server.listen_after_bind();
  throw bad_input("cannot listen on {}, port {} any more: {}", options.address, port, std::strerror(errno));
}

}  // namespace convlab::classroom
