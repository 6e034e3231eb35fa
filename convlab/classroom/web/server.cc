// Serves the class's web page over HTTP.

#include "convlab/classroom/web/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <memory>

#include "convlab/base/error.h"
#include "convlab/classroom/web/connections.h"

namespace convlab::classroom {
namespace {

constexpr size_t kThreads = 64;
constexpr int kMostUnaccepted = 512;

/// A request that was read completely, and a buffer for its answer.
class WholeRequest : public httplib::Stream {
 public:
  explicit WholeRequest(std::string request) : request_(std::move(request)) {}

  bool is_readable() const override { return read_ < request_.size(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override {
    const size_t count = request_.copy(bytes, size, read_);
    read_ += count;
    return count == 0 ? -1 : static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    answer_.append(bytes, size);
    return static_cast<ssize_t>(size);
  }
  // Unused: a reverse proxy hides the client's address.
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  // NOLINTNEXTLINE(modernize-use-override): older versions of the library do not have it
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const {}
  socket_t socket() const override { return -1; }

  std::string& answer() { return answer_; }

 private:
  std::string request_, answer_;
  size_t read_ = 0;
};

/// Runs tasks in the accepting thread, which only hands connections over.
class AtOnce : public httplib::TaskQueue {
 public:
  using Answer = decltype(std::declval<httplib::TaskQueue>().enqueue({}));  // bool since 0.15

  Answer enqueue(std::function<void()> task) override {
    task();
    return static_cast<Answer>(true);
  }
  void shutdown() override {}
};

using Setup = std::function<void(httplib::Request&)>;

class BoundedServer : public httplib::Server {
 public:
  BoundedServer() {
    new_task_queue = [] { return new AtOnce; };
  }
  ~BoundedServer() override { pool_.shutdown(); }

  /// Call after binding: the library's backlog is 5.
  void let_many_wait() { ::listen(svr_sock_, kMostUnaccepted); }

 private:
  bool process_and_close_socket(socket_t socket) override {
    connections_.add(socket);
    return true;
  }

  void handle(int64_t id, std::string request) {
    pool_.enqueue([this, id, stream = std::make_shared<WholeRequest>(std::move(request))] {
      process_once(&BoundedServer::process_request, *stream);
      connections_.answer(id, std::move(stream->answer()));
    });
  }

  /// Ignores Range headers, so that overlapping ranges cannot multiply the size of an answer.
  static void without_ranges(httplib::Request& request) { request.ranges.clear(); }

  // Overloads for the signatures in different versions of the library.
  void process_once(bool (httplib::Server::*process)(httplib::Stream&, bool, bool&, const Setup&),
                    WholeRequest& stream) {
    bool closed = false;
    (this->*process)(stream, true, closed, without_ranges);
  }
  void process_once(bool (httplib::Server::*process)(httplib::Stream&, const std::string&, int, const std::string&, int,
                                                     bool, bool&, const Setup&),
                    WholeRequest& stream) {
    bool closed = false;
    (this->*process)(stream, "", 0, "", 0, true, closed, without_ranges);
  }

  httplib::ThreadPool pool_{kThreads};
  Connections connections_{[this](int64_t id, std::string request) { handle(id, std::move(request)); }};
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
  // Forbids loading from other hosts, scripts and embedding in frames.
  response.set_header("Content-Security-Policy",
                      "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; "
                      "frame-ancestors 'none'");
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("X-Frame-Options", "DENY");  // for browsers without frame-ancestors
  response.set_header("Referrer-Policy", "same-origin");
}

}  // namespace

void serve(const Site& site, const ServerOptions& options) {
  BoundedServer server;
  server.set_payload_max_length(static_cast<size_t>(kMostBodyBytes));
  const auto reply = [&](const httplib::Request& request, httplib::Response& response) {
    answer(site.reply(visit_of(request)), response);
  };
  // By default the library would share a port that is in use (SO_REUSEPORT).
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // Requests without a form are answered before their body is read.
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
    throw bad_input("cannot listen on {}, port {}: {}; choose another --port or --bind", options.address, options.port,
                    std::strerror(errno));
  }
  server.let_many_wait();
  options.ready(port);
  server.listen_after_bind();
  throw bad_input("stopped listening on {}, port {}: {}", options.address, port, std::strerror(errno));
}

}  // namespace convlab::classroom
