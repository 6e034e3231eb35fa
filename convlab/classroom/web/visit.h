#pragma once

#include <map>
#include <string>

namespace convlab::classroom {

/// The parts of a request to the class's web page that matter. Everything in it may be forged.
struct Visit {
  std::string method, path;                   ///< the path without the query string, percent-decoded
  std::string cookies;                        ///< the Cookie header
  bool is_encrypted = false;                  ///< HTTPS, according to the reverse proxy
  std::map<std::string, std::string> fields;  ///< form fields
  std::string file_name, file;                ///< uploaded file of a form
};

/// The response.
struct Reply {
  int status = 200;
  std::string body;
  std::string type = "text/html; charset=utf-8";
  std::multimap<std::string, std::string> headers = {};
};

/// Returns the value of a cookie if it is 32 hexadecimal digits, like all of the site's cookies; otherwise "".
std::string cookie_of(const Visit& visit, const std::string& name);

/// Sets a cookie that scripts cannot read (HttpOnly) and that other sites' requests do not carry (SameSite), for
/// `keep_s` seconds; 0 deletes it, -1 makes it a session cookie.
void set_cookie(Reply& reply, const Visit& visit, const std::string& name, const std::string& value, int64_t keep_s);

/// Returns the CSRF token of forms. It derives from cookies that only this site can read, so other sites cannot submit
/// forms for a visitor.
std::string form_value(const std::string& visitor, const std::string& token);

/// Returns whether the visit's form has the right CSRF token.
bool form_is_ours(const Visit& visit);

// Cookie names: one identifies a browser, for CSRF tokens; the other holds a student's token.
inline constexpr const char* kVisitorCookie = "convlab-visitor";
inline constexpr const char* kTokenCookie = "convlab-token";

}  // namespace convlab::classroom
