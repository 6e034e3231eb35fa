// Tests convlab class serve and token: the server on a port, with well-behaved and misbehaving clients.

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <httplib.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "convlab/base/clock.h"
#include "convlab/base/json.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::ordered_json;

/// Runs the server in its own process for the lifetime of the object.
class Server {
 public:
  explicit Server(const std::string& dir) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    child_ = ::fork();
    if (child_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execl(convlab_program().c_str(), "convlab", "class", "serve", dir.c_str(), "--port", "0", nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    char byte = 0;
    while (::read(ends[0], &byte, 1) == 1 && byte != '\n') line_ += byte;
    ::close(ends[0]);
    std::smatch match;
    if (std::regex_match(line_, match, std::regex("http://127\\.0\\.0\\.1:(\\d+)/"))) port_ = std::stoi(match[1]);
  }
  ~Server() {
    ::kill(child_, SIGTERM);
    ::waitpid(child_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const { return port_; }
  bool lives() const { return ::kill(child_, 0) == 0 && ::waitpid(child_, nullptr, WNOHANG) == 0; }

  int64_t memory_kb() const {
    std::smatch match;
    const std::string status = text_of("/proc/" + std::to_string(child_) + "/status");
    return std::regex_search(status, match, std::regex("VmHWM:\\s+(\\d+) kB")) ? std::stoll(match[1]) : -1;
  }

 private:
  pid_t child_ = -1;
  int port_ = 0;
  std::string line_;
};

/// A raw connection, for requests that no browser would send.
class Raw {
 public:
  explicit Raw(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{
        .sin_family = AF_INET, .sin_port = htons(static_cast<uint16_t>(port)), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to), 0);
  }
  ~Raw() { ::close(socket_); }
  Raw(const Raw&) = delete;
  Raw& operator=(const Raw&) = delete;

  bool send(const std::string& text) const {
    return ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }

  /// Returns everything received until the server closes the connection, or "still open" after `seconds` without data.
  std::string answer(int seconds) const {
    std::string text;
    std::array<char, 4096> bytes{};
    for (;;) {
      pollfd each{.fd = socket_, .events = POLLIN, .revents = 0};
      if (::poll(&each, 1, seconds * 1000) != 1) return "still open";
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count <= 0) return text;
      text.append(bytes.data(), static_cast<size_t>(count));
    }
  }

 private:
  int socket_;
};

class ClassPageProgram : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(call({"new", dir(), "--assignment", "fa19"}).status, 0);
    const ProgramRun made = call({"token", dir(), "anna", "--json", "-"});
    ASSERT_EQ(made.status, 0) << made.complaint;
    token_ = parse_json(made.output, "token").at("tokens")[0].at("token").get<std::string>();
  }

  ProgramRun call(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "class");
    return run_program(arguments);
  }

  /// Returns the form token on a page.
  static std::string form_of(const std::string& page) {
    std::smatch match;
    return std::regex_search(page, match, std::regex("name=\"form\" value=\"([0-9a-f]+)\"")) ? match[1].str() : "";
  }

  std::string dir() const { return (folder_.path() / "class").string(); }

  const TemporaryFolder folder_;
  std::string token_;
};

TEST_F(ClassPageProgram, AStudentEntersHandsInAndLooks) {
  const Server server(dir());
  ASSERT_GT(server.port(), 0);
  httplib::Client client("127.0.0.1", server.port());
  const auto front = client.Get("/enter");
  ASSERT_TRUE(front);
  EXPECT_EQ(front->status, 200);
  EXPECT_THAT(front->get_header_value("Content-Security-Policy"),
              AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("script"))));
  const std::string visitor = front->get_header_value("Set-Cookie");
  std::string cookies = visitor.substr(0, visitor.find(';'));
  const auto entered =
      client.Post("/enter", {{"Cookie", cookies}}, httplib::Params{{"form", form_of(front->body)}, {"token", token_}});
  ASSERT_TRUE(entered);
  ASSERT_EQ(entered->status, 303) << entered->body;
  const std::string student = entered->get_header_value("Set-Cookie");
  EXPECT_THAT(student, AllOf(HasSubstr("HttpOnly"), HasSubstr("SameSite=Strict"), Not(HasSubstr("Secure"))));
  cookies += "; " + student.substr(0, student.find(';'));
  const auto own = client.Get("/own", {{"Cookie", cookies}});
  ASSERT_TRUE(own);
  const auto hand_in = [&](const std::string& source, const std::string& form) {
    return client.Post(
        "/submit", {{"Cookie", cookies}},
        httplib::MultipartFormDataItems{
            {"form", form, "", ""}, {"assignment", "fa19", "", ""}, {"file", source, "new-forward.cuh", "text/plain"}});
  };
  const std::string source = text_of(dir() + "/public/fa19/new-forward.cuh");
  const auto sent = hand_in(source, form_of(own->body));
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->status, 303) << sent->body;
  EXPECT_EQ(sent->get_header_value("Location"), "/submission/1");
  EXPECT_EQ(text_of(dir() + "/files/1/new-forward.cuh"), source);
  EXPECT_EQ(hand_in(source, "0")->status, 403);
  const auto large = hand_in(std::string(3 << 20, 'x'), form_of(own->body));
  ASSERT_TRUE(large) << "it is read on until the visitor has seen the answer";
  EXPECT_EQ(large->status, 413);
  EXPECT_THAT(large->body, HasSubstr("1 MiB"));
  EXPECT_THAT(client.Get("/submission/1", {{"Cookie", cookies}})->body, HasSubstr("position 1"));
  EXPECT_EQ(client.Get("/style.css")->get_header_value("Content-Type"), "text/css; charset=utf-8");
  EXPECT_EQ(client.Get("/public/fa19/%2e%2e/%2e%2e/class.toml")->status, 404);
  EXPECT_EQ(client.Head("/")->status, 200);
  const ProgramRun status = call({"status", dir()});
  EXPECT_THAT(status.output, AllOf(HasSubstr("1  anna"), Not(HasSubstr("2  "))));
  // As behind a proxy that terminates TLS.
  const auto encrypted = client.Get("/enter", {{"X-Forwarded-Proto", "https"}});
  EXPECT_THAT(encrypted->get_header_value("Set-Cookie"), HasSubstr("; Secure"));
}

TEST_F(ClassPageProgram, BadClientsAreEndedAndOthersServed) {
  const Server server(dir());
  ASSERT_GT(server.port(), 0);
  const int64_t before_kb = server.memory_kb();
  std::vector<std::unique_ptr<Raw>> slow;
  constexpr int kSlow = 300;
  for (int i = 0; i < kSlow; ++i) {
    slow.push_back(std::make_unique<Raw>(server.port()));
    // Slow headers, a slow form, and a client that reads the reply and keeps the connection open.
    slow.back()->send(i % 3 == 0   ? "GET / HTTP/1.1\r\nHost:"
                      : i % 3 == 1 ? "POST /submit HTTP/1.1\r\nContent-Length: 1000\r\n\r\nx"
                                   : "GET / HTTP/1.1\r\n\r\n");
  }
  httplib::Client client("127.0.0.1", server.port());
  const Clock::time_point asked = Clock::now();
  ASSERT_TRUE(client.Get("/"));
  EXPECT_LT(seconds_since(asked), 2) << "nobody waits for the slow";
  const Raw endless_line(server.port()), endless_headers(server.port()), endless_body(server.port()),
      garbage(server.port()), false_length(server.port());
  EXPECT_TRUE(endless_line.send("GET / HTTP/1.1\r\nX: "));
  const std::string much(1 << 20, 'x');
  for (int i = 0; i < 64 && endless_line.send(much); ++i) {
  }
  EXPECT_TRUE(endless_headers.send("GET / HTTP/1.1\r\n"));
  std::string headers;
  for (int i = 0; i < 50'000; ++i) headers += "X-" + std::to_string(i) + ": y\r\n";
  for (int i = 0; i < 64 && endless_headers.send(headers); ++i) {
  }
  EXPECT_TRUE(endless_body.send("POST /submit HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"));
  for (int i = 0; i < 64 && endless_body.send("100000\r\n" + much + "\r\n"); ++i) {
  }
  EXPECT_TRUE(garbage.send(std::string("\0\xff\r\n\r\n", 6)));
  EXPECT_TRUE(false_length.send("POST /submit HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"));
  constexpr int kSoon_s = 9;
  for (const Raw* each : {&endless_line, &endless_headers, &endless_body, &garbage, &false_length}) {
    EXPECT_NE(each->answer(kSoon_s), "still open");
  }
  for (const auto& each : slow) EXPECT_NE(each->answer(kSoon_s), "still open");
  EXPECT_TRUE(server.lives());
  EXPECT_TRUE(client.Get("/"));
  constexpr int64_t kMost_kb = 48 << 10;  // one of the clients sends 64 MiB
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_LT(server.memory_kb() - before_kb, kMost_kb);
#endif
}

// Dripping bytes keeps a connection open only until the time limit for headers. Connections beyond the maximum evict
// the oldest ones.
TEST_F(ClassPageProgram, DrippingHeadersEndAndMoreThanAreHeldPushOutEachOther) {
  const Server server(dir());
  ASSERT_GT(server.port(), 0);
  const Raw first(server.port());
  first.send("GET / HTTP/1.1\r\n");
  std::vector<std::unique_ptr<Raw>> many;
  constexpr int kMoreThanHeld = 600;
  for (int i = 0; i < kMoreThanHeld; ++i) {
    many.push_back(std::make_unique<Raw>(server.port()));
    many.back()->send("GET / HTTP/1.1\r\n");
  }
  EXPECT_EQ(first.answer(1), "") << "the oldest one is ended for the newest";
  httplib::Client client("127.0.0.1", server.port());
  ASSERT_TRUE(client.Get("/"));
  const Clock::time_point began = Clock::now();
  while (seconds_since(began) < 9 && many.back()->send("X: y\r\n")) ::usleep(200'000);
  EXPECT_LT(seconds_since(began), 8);
}

TEST_F(ClassPageProgram, WhoAsksForPartsGetsThePageOnce) {
  const Server server(dir());
  httplib::Client client("127.0.0.1", server.port());
  const size_t whole = client.Get("/style.css")->body.size();
  std::string ranges = "bytes=0-";
  for (int i = 0; i < 500; ++i) ranges += ",0-";
  const auto parts = client.Get("/style.css", {{"Range", ranges}});
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->status, 200);
  EXPECT_EQ(parts->body.size(), whole);
  EXPECT_EQ(parts->get_header_value("X-Frame-Options"), "DENY");
}

TEST_F(ClassPageProgram, ManyWaitToBeAccepted) {
  const Server server(dir());
  std::array<char, 256> line{};
  const std::string command = "ss -Hltn 'sport = :" + std::to_string(server.port()) + "'";
  FILE* said = ::popen(command.c_str(), "r");
  const bool has_line = said != nullptr && std::fgets(line.data(), line.size(), said) != nullptr;
  if (said != nullptr) ::pclose(said);
  if (!has_line) GTEST_SKIP() << "there is no ss";
  std::istringstream words(line.data());
  std::string state, received;
  int64_t backlog = 0;
  words >> state >> received >> backlog;
  EXPECT_GE(backlog, 100) << line.data();
}

TEST_F(ClassPageProgram, BadUsageIsNoCrash) {
  const std::string other = folder_.path().string();
  for (const std::vector<std::string>& each : {std::vector<std::string>{"serve"},
                                               {"serve", other},
                                               {"serve", dir(), "--port", "65536"},
                                               {"serve", dir(), "--port", "x"},
                                               {"serve", dir(), "--port", "0", "--bind", "256.1.2.3"},
                                               {"token", dir()},
                                               {"token", other, "anna"},
                                               {"token", dir(), "a/b"},
                                               {"token", dir(), "anna", "--list"},
                                               {"token", dir(), "bert", "--revoke"},
                                               {"token", dir(), "--revoke"},
                                               {"token", dir(), "--revoke", "--list"}}) {
    const ProgramRun run = call(each);
    EXPECT_EQ(run.status, 2) << testing::PrintToString(each) << run.output;
    EXPECT_THAT(run.complaint, HasSubstr("convlab: error: "));
  }
  const Server server(dir());
  EXPECT_THAT(call({"serve", dir(), "--port", std::to_string(server.port())}).complaint, HasSubstr("cannot listen on"));
}

TEST_F(ClassPageProgram, TokensAreListedWithoutThemselves) {
  const ProgramRun list = call({"token", dir(), "--list"});
  EXPECT_THAT(list.output, AllOf(ContainsRegex("20..-..-..T..:..:..Z  anna"), Not(HasSubstr(token_))));
  EXPECT_EQ(call({"token", dir(), "anna", "--revoke"}).status, 0);
  EXPECT_THAT(call({"token", dir(), "--list"}).output, StartsWith("No student has a token"));
}

}  // namespace
}  // namespace convlab
