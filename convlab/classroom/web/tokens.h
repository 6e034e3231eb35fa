#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/store.h"

namespace convlab::classroom {

// Tokens stand for students on the class's page. A student has one at most; the database keeps its SHA-256 alone.

/// A new token, 32 hexadecimal digits: 128 bits of entropy. The student's former one ends. A student of this name is
/// made where there is none. Error(bad_input) unless a student can be called so.
std::string make_token(Store& store, const std::string& student);

/// False where the student has none.
bool revoke_token(Store& store, const std::string& student);

/// Whose it is; nullopt: nobody's.
std::optional<Student> student_of_token(Store& store, const std::string& token);

struct TokenHolder {
  std::string name;
  double made_s = 0;  ///< seconds since 1970
};
std::vector<TokenHolder> token_holders(Store& store);

}  // namespace convlab::classroom
