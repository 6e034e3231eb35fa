#pragma once

#include <map>
#include <string>

namespace convlab::classroom {

/// One request to the class's page, as far as it matters; everything in it may be forged.
struct Visit {
  std::string method, path;                   ///< the path without what follows '?', and without escapes
  std::string cookies;                        ///< the header of that name
  bool is_encrypted = false;                  ///< by the server before this one
  std::map<std::string, std::string> fields;  ///< of a form
  std::string file_name, file;                ///< of a form's file
};

/// What it gets.
struct Reply {
  int status = 200;
  std::string body;
  std::string type = "text/html; charset=utf-8";
  std::multimap<std::string, std::string> headers = {};
};

/// The value of a cookie that is 32 hexadecimal digits, as all of ours are; otherwise "".
std::string cookie_of(const Visit& visit, const std::string& name);

/// Has the browser keep a cookie, which scripts cannot read and other sites cannot have sent, for so many seconds; 0
/// removes it, -1 keeps it until the browser ends.
void set_cookie(Reply& reply, const Visit& visit, const std::string& name, const std::string& value, int64_t keep_s);

/// What each form carries, so that no other site can send one for a visitor: it derives from cookies that only this
/// site can read.
std::string form_value(const std::string& visitor, const std::string& token);

/// Whether the visit's form carries it.
bool form_is_ours(const Visit& visit);

// Names of cookies: one tells visitors apart, so that forms can be known again, the other is a student's token.
inline constexpr const char* kVisitorCookie = "convlab-visitor";
inline constexpr const char* kTokenCookie = "convlab-token";

}  // namespace convlab::classroom
