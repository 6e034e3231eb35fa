// Handles the cookies and CSRF tokens of the class's web page.

#include "convlab/classroom/web/visit.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "convlab/base/text.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/sha256.h"

namespace convlab::classroom {
std::string cookie_of(const Visit& visit, const std::string& name) {
  for (std::string each : split(visit.cookies, ';')) {
    each.erase(0, each.find_first_not_of(' '));
    if (!each.starts_with(name + "=")) continue;
    std::string value = each.substr(name.size() + 1);
    return is_secret(value) ? value : "";
  }
  return "";
}

void set_cookie(Reply& reply, const Visit& visit, const std::string& name, const std::string& value, int64_t keep_s) {
  std::string text = fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict", name, value);
  if (keep_s >= 0) text += fmt::format("; Max-Age={}", keep_s);
  if (visit.is_encrypted) text += "; Secure";
  reply.headers.emplace("Set-Cookie", std::move(text));
}

std::string form_value(const std::string& visitor, const std::string& token) {
  return sha256("form of " + visitor + " " + token);
}

bool form_is_ours(const Visit& visit) {
  const std::string visitor = cookie_of(visit, kVisitorCookie);
  const auto given = visit.fields.find("form");
  if (visitor.empty() || given == visit.fields.end()) return false;
  const std::string expected = form_value(visitor, cookie_of(visit, kTokenCookie));
  return given->second.size() == expected.size() &&
         CRYPTO_memcmp(given->second.data(), expected.data(), expected.size()) == 0;
}

}  // namespace convlab::classroom
