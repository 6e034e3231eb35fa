#pragma once

#include <gmock/gmock.h>

#include <string>

#include "convlab/base/error.h"

namespace convlab {

/// Returns the message of the Error that `call` throws. Fails the test if `call` does not throw an Error of this kind.
template <class Call>
std::string error_message(ErrorKind kind, Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error where one is due";
  return "";
}

template <class Call>
std::string bad_input_message(Call&& call) {
  return error_message(ErrorKind::bad_input, std::forward<Call>(call));
}

}  // namespace convlab
