#pragma once

#include <utility>

#include "convlab/kernel_file/simt_include/thrust/tuple.h"

namespace thrust {

/// Calls a function of several arguments with the elements of a tuple.
template <class F>
class zip_function {
 public:
  explicit zip_function(F f) : f_(std::move(f)) {}
  template <class Tuple>
  decltype(auto) operator()(Tuple&& values) const {
    return thrust::apply(f_, std::forward<Tuple>(values));
  }
  const F& underlying_function() const { return f_; }

 private:
  F f_;
};

template <class F>
zip_function<std::decay_t<F>> make_zip_function(F&& f) {
  return zip_function<std::decay_t<F>>(std::forward<F>(f));
}

}  // namespace thrust
