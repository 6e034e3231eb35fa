#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/store.h"

namespace convlab::classroom {

// Tokens identify students on the class's web page. A student has at most one; the database stores only its SHA-256.

/// Creates a token, 32 hexadecimal digits with 128 bits of entropy, and revokes the student's previous one. Creates the
/// student if necessary. Throws Error(bad_input) if the student name is invalid.
std::string make_token(Store& store, const std::string& student);

/// Returns false if the student has no token.
bool revoke_token(Store& store, const std::string& student);

/// Returns the token's student, or nullopt if the token is invalid.
std::optional<Student> student_of_token(Store& store, const std::string& token);

struct TokenHolder {
  std::string name;
  double made_s = 0;  ///< seconds since 1970
};
std::vector<TokenHolder> token_holders(Store& store);

}  // namespace convlab::classroom
