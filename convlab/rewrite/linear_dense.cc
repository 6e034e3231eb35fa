// Composes consecutive affine operators into one matrix, from the last to the first: adding an operator multiplies by
// its transpose. A row of the matrix belongs to an element of the image between two operators, a column to an output.

#include <algorithm>
#include <cmath>
#include <utility>

#include "convlab/model/shapes.h"
#include "convlab/rewrite/evaluate.h"
#include "convlab/rewrite/linear.h"

namespace convlab {
namespace {

/// to += factor * from, over a row.
void add_row(double factor, const double* from, double* to, int64_t columns) {
  for (int64_t j = 0; j < columns; ++j) to[j] += factor * from[j];
}

/// The matrix of the last steps; take() adds the step before them.
class Taken {
 public:
  Taken(DenseForm form, ThreadPool& threads) : form_(std::move(form)), threads_(threads) {}

  void take(const LinearOp& step) {
    if (only_reshapes(step.node->op)) return;
    take_one(step);
    is_identity_ = false;
  }

  DenseForm form() && { return std::move(form_); }

 private:
  void take_one(const LinearOp& step) {
    const Op& op = step.node->op;
    if (const auto* conv = std::get_if<ConvOp>(&op)) return take_conv(*conv, step);
    if (const auto* pool = std::get_if<PoolOp>(&op)) return take_pool(resolved_pool(*pool, step.x), step);
    if (std::holds_alternative<GlobalAveragePoolOp>(op)) {
      int64_t area = 1;
      for (size_t i = 2; i < step.x.size(); ++i) area *= step.x[i];
      return take_rows(step, [&](int64_t i) { return std::pair(i / area, 1.0 / static_cast<double>(area)); });
    }
    if (const auto* norm = std::get_if<BatchNormOp>(&op)) return take_batch_norm(*norm, step);
    if (std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op)) return take_broadcast(step);
    if (const auto* pad = std::get_if<PadOp>(&op)) return take_pad(*pad, step);
    if (const auto* transpose = std::get_if<TransposeOp>(&op)) return take_transpose(*transpose, step);
    take_gemm(step);
  }

  const double* row(int64_t i) const { return form_.weights.data() + i * form_.outputs; }

  /// Computes row i of the new matrix with make(i, row); the row starts as zeros.
  template <class Make>
  void replace(int64_t rows, const Make& make) {
    std::vector<double> fresh(static_cast<size_t>(rows * form_.outputs));
    threads_.parallel_for(rows, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) make(i, fresh.data() + i * form_.outputs);
    });
    form_.weights = std::move(fresh);
    form_.inputs = rows;
  }

  /// Adds a step in which input i contributes to one output only: source(i) returns its index (-1: none) and the
  /// factor.
  template <class Source>
  void take_rows(const LinearOp& step, const Source& source) {
    replace(image_element_count(step.x), [&](int64_t i, double* to) {
      const auto [from, factor] = source(i);
      if (from >= 0) add_row(factor, row(from), to, form_.outputs);
    });
  }

  /// Adds the constant part of output i of the step.
  void add_offset(int64_t i, double offset) { add_row(offset, row(i), form_.bias.data(), form_.outputs); }

  void take_conv(const ConvOp& op, const LinearOp& step) {
    const ConvProblem problem = conv_problem(op, step.x, step.given[1]->shape());
    const float* w = step.given[1]->values<float>().data();
    const int64_t height = problem.p(), width = problem.q(), maps = problem.maps_per_group();
    if (step.given.size() > 2) {
      for (int64_t i = 0; i < form_.inputs; ++i) {
        add_offset(i, step.given[2]->values<float>()[static_cast<size_t>(i / (height * width))]);
      }
    }
    replace(problem.c * problem.h * problem.w, [&](int64_t i, double* to) {
      const int64_t c = i / (problem.h * problem.w), h = i / problem.w % problem.h, x = i % problem.w;
      const int64_t first_map = c / problem.channels_per_group() * maps, channel = c % problem.channels_per_group();
      for (int64_t r = 0; r < problem.r; ++r) {
        const int64_t from_top = h + problem.pad_top - r * problem.dilation_h, p = from_top / problem.stride_h;
        if (from_top < 0 || from_top % problem.stride_h != 0 || p >= height) continue;
        for (int64_t s = 0; s < problem.s; ++s) {
          const int64_t from_left = x + problem.pad_left - s * problem.dilation_w, q = from_left / problem.stride_w;
          if (from_left < 0 || from_left % problem.stride_w != 0 || q >= width) continue;
          for (int64_t k = first_map; k < first_map + maps; ++k) {
            const double weight = w[((k * problem.channels_per_group() + channel) * problem.r + r) * problem.s + s];
            add_row(weight, row((k * height + p) * width + q), to, form_.outputs);
          }
        }
      }
    });
  }

  void take_pool(const Pool& pool, const LinearOp& step) {
    const int64_t h = step.x[2], w = step.x[3], height = step.y[2], width = step.y[3];
    std::vector<double> fresh(static_cast<size_t>(image_element_count(step.x) * form_.outputs));
    std::vector<int64_t> inside;
    for (int64_t i = 0; i < form_.inputs; ++i) {
      const int64_t top = i / width % height * pool.stride_h - pool.pad_top;
      const int64_t left = i % width * pool.stride_w - pool.pad_left;
      inside.clear();
      int64_t counted = 0;
      for (int64_t y = top; y < top + pool.kernel_h * pool.dilation_h; y += pool.dilation_h) {
        for (int64_t x = left; x < left + pool.kernel_w * pool.dilation_w; x += pool.dilation_w) {
          counted += y < h + pool.pad_bottom && x < w + pool.pad_right;  // outside the padding nothing counts
          if (y >= 0 && y < h && x >= 0 && x < w) inside.push_back((i / (height * width) * h + y) * w + x);
        }
      }
      const auto divisor = static_cast<double>(pool.count_include_pad ? counted : std::ssize(inside));
      for (int64_t at : inside) add_row(1 / divisor, row(i), fresh.data() + at * form_.outputs, form_.outputs);
    }
    form_.weights = std::move(fresh);
    form_.inputs = image_element_count(step.x);
  }

  void take_batch_norm(const BatchNormOp& norm, const LinearOp& step) {
    const int64_t area = image_element_count(step.x) / step.x[1];
    const auto parameter = [&](size_t which, int64_t i) {
      return static_cast<double>(step.given[which]->values<float>()[static_cast<size_t>(i / area)]);
    };
    const auto scale = [&](int64_t i) { return parameter(1, i) / std::sqrt(parameter(4, i) + norm.epsilon); };
    for (int64_t i = 0; i < form_.inputs; ++i) add_offset(i, parameter(2, i) - parameter(3, i) * scale(i));
    take_rows(step, [&](int64_t i) { return std::pair(i, scale(i)); });
  }

  void take_broadcast(const LinearOp& step) {
    const Tensor& constant = *step.given[step.given[0] == nullptr ? 1 : 0];
    const Shape& shape = constant.shape();
    const auto value = [&](int64_t i) {
      int64_t at = 0, stride = 1;
      for (size_t d = shape.size(), of_x = step.x.size(); d-- > 0;) {
        --of_x;
        if (of_x > 0 && shape[d] != 1) at += i % step.x[of_x] * stride;
        stride *= shape[d];
        i /= step.x[of_x];
      }
      return static_cast<double>(constant.values<float>()[static_cast<size_t>(at)]);
    };
    if (std::holds_alternative<AddOp>(step.node->op)) {
      for (int64_t i = 0; i < form_.inputs; ++i) add_offset(i, value(i));
    } else {
      take_rows(step, [&](int64_t i) { return std::pair(i, value(i)); });
    }
  }

  void take_pad(const PadOp& pad, const LinearOp& step) {
    const size_t rank = step.x.size();
    /// Returns the index in `to` of element i of `from`, shifted by `sign` * pads; -1 outside.
    const auto moved = [&](int64_t i, const Shape& from, const Shape& to, int64_t sign) {
      int64_t at = 0, stride = 1;
      for (size_t d = rank; d-- > 1; i /= from[d]) {
        const int64_t place = i % from[d] + sign * pad.pads[d];
        if (place < 0 || place >= to[d]) return int64_t{-1};
        at += place * stride;
        stride *= to[d];
      }
      return at;
    };
    for (int64_t i = 0; pad.value != 0 && i < form_.inputs; ++i) {
      if (moved(i, step.y, step.x, -1) < 0) add_offset(i, pad.value);
    }
    take_rows(step, [&](int64_t i) { return std::pair(moved(i, step.x, step.y, 1), 1.0); });
  }

  void take_transpose(const TransposeOp& op, const LinearOp& step) {
    take_rows(step, [&](int64_t i) {
      std::vector<int64_t> place(step.x.size());
      for (size_t d = step.x.size(); d-- > 1; i /= step.x[d]) place[d] = i % step.x[d];
      int64_t at = 0;
      for (size_t d = 1; d < step.y.size(); ++d) {
        at = at * step.y[d] + place[static_cast<size_t>(normalized_axis(op.permutation[d], std::ssize(step.x)))];
      }
      return std::pair(at, 1.0);
    });
  }

  void take_gemm(const LinearOp& step) {
    const auto* gemm = std::get_if<GemmOp>(&step.node->op);
    const float* b = step.given[1]->values<float>().data();
    const int64_t k = step.x[1], n = step.y[1];
    if (step.given.size() > 2) {
      const Tensor& c = *step.given[2];
      for (int64_t j = 0; j < n; ++j) {
        add_offset(j, static_cast<double>(gemm->beta) * c.values<float>()[c.count() == 1 ? 0 : static_cast<size_t>(j)]);
      }
    }
    const double alpha = gemm != nullptr ? gemm->alpha : 1;
    replace(k, [&](int64_t i, double* to) {
      for (int64_t j = 0; j < n; ++j) {
        const double weight = b[gemm != nullptr && gemm->transpose_b ? j * k + i : i * n + j];
        if (is_identity_) {
          to[j] = alpha * weight;
        } else {
          add_row(alpha * weight, row(j), to, form_.outputs);
        }
      }
    });
  }

  DenseForm form_;
  ThreadPool& threads_;
  bool is_identity_ = true;  ///< no step was added yet
};

}  // namespace

DenseForm dense_form(const std::vector<LinearOp>& steps, ThreadPool& threads) {
  DenseForm form;
  form.inputs = form.outputs = image_element_count(steps.back().y);
  form.weights.resize(static_cast<size_t>(form.inputs * form.outputs));
  for (int64_t i = 0; i < form.outputs; ++i) form.weights[static_cast<size_t>(i * form.outputs + i)] = 1;
  form.bias.resize(static_cast<size_t>(form.outputs));
  Taken taken(std::move(form), threads);
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) taken.take(*step);
  return std::move(taken).form();
}

}  // namespace convlab
