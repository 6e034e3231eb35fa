// Compares cublasLt's products with direct sums: epilogues, batches, both orders, and factors in device memory.
#include <cublasLt.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const int error = static_cast<int>(call); error != 0) {                \
      std::printf("%s:%d: %s returns %d\n", __FILE__, __LINE__, #call, error); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (0)

constexpr int kM = 8, kN = 6, kK = 16, kBatch = 2;
cublasLtHandle_t handle;
int failures = 0;

void expect(const char* what, double found, double expected) {
  if (std::abs(found - expected) <= 1e-5 * (1 + std::abs(expected))) return;
  if (failures++ < 10) std::printf("%s: %g instead of %g\n", what, found, expected);
}

struct Array {
  std::vector<float> host;
  float* device;
  explicit Array(int count, float seed = 0) : host(count) {
    for (int i = 0; i < count; ++i) host[i] = std::sin(i * 1.3f + seed);
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  }
  Array(const Array&) = delete;
  ~Array() { cudaFree(device); }
  void fetch() { CHECK(cudaMemcpy(host.data(), device, host.size() * sizeof(float), cudaMemcpyDeviceToHost)); }
};

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

// D = epilogue(op(A) B), where A is stored as k x m and D by rows or by columns.
struct Product {
  cublasLtMatmulDesc_t description;
  cublasLtMatrixLayout_t a, b, d;
  explicit Product(cublasLtOrder_t order) {
    CHECK(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t transposed = CUBLAS_OP_T;
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    CHECK(cublasLtMatrixLayoutCreate(&a, CUDA_R_32F, kK, kM, kK));
    CHECK(cublasLtMatrixLayoutCreate(&b, CUDA_R_32F, kK, kN, kK));
    CHECK(cublasLtMatrixLayoutCreate(&d, CUDA_R_32F, kM, kN, order == CUBLASLT_ORDER_ROW ? kN : kM));
    CHECK(cublasLtMatrixLayoutSetAttribute(d, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, sizeof(order)));
    const int count = kBatch;
    const int64_t strides[3] = {kK * kM, kK * kN, kM * kN};
    const cublasLtMatrixLayout_t layouts[3] = {a, b, d};
    for (int i = 0; i < 3; ++i) {
      CHECK(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)));
      CHECK(cublasLtMatrixLayoutSetAttribute(layouts[i], CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &strides[i],
                                             sizeof(int64_t)));
    }
  }
  ~Product() {
    cublasLtMatmulDescDestroy(description);
    for (cublasLtMatrixLayout_t each : {a, b, d}) cublasLtMatrixLayoutDestroy(each);
  }
  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    CHECK(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)));
  }
  void run(const float* alpha, const Array& in_a, const Array& in_b, const float* beta, Array& out) {
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    int count = 0;
    const size_t bytes = 0;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof(bytes)));
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, description, a, b, d, d, preference, 1, &found, &count));
    if (count != 1) failures += std::printf("no algorithm\n");
    CHECK(cublasLtMatmul(handle, description, alpha, in_a.device, a, in_b.device, b, beta, out.device, d, out.device, d,
                         &found.algo, nullptr, 0, nullptr));
    CHECK(cublasLtMatmulPreferenceDestroy(preference));
    out.fetch();
  }
};

double sum_of(const Array& a, const Array& b, int batch, int row, int column) {
  double sum = 0;
  for (int k = 0; k < kK; ++k) {
    sum += static_cast<double>(a.host[batch * kK * kM + k + row * kK]) * b.host[batch * kK * kN + k + column * kK];
  }
  return sum;
}

int main() {
  CHECK(cublasLtCreate(&handle));
  const Array a(kK * kM * kBatch, 0.1f), b(kK * kN * kBatch, 0.2f), bias(kM, 0.3f), factors(2, 0.4f);
  const float one = 1, zero = 0;

  for (const cublasLtOrder_t order : {CUBLASLT_ORDER_COL, CUBLASLT_ORDER_ROW}) {
    Product product(order);
    const Array before(kM * kN * kBatch, 0.5f);
    Array d(kM * kN * kBatch, 0.5f);
    const int32_t pointers = CUBLASLT_POINTER_MODE_DEVICE;
    product.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, pointers);
    product.run(factors.device, a, b, factors.device + 1, d);
    for (int i = 0; i < kM * kN * kBatch; ++i) {
      const int in = i % (kM * kN), row = order == CUBLASLT_ORDER_ROW ? in / kN : in % kM;
      const int column = order == CUBLASLT_ORDER_ROW ? in % kN : in / kM;
      expect("alpha and beta on the device", d.host[i],
             factors.host[0] * sum_of(a, b, i / (kM * kN), row, column) + factors.host[1] * before.host[i]);
    }
  }

  const cublasLtEpilogue_t epilogues[] = {CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS,
                                          CUBLASLT_EPILOGUE_GELU_AUX_BIAS};
  Array inputs(kM * kN * kBatch);
  const int64_t leading = kM, stride = kM * kN;
  for (const cublasLtEpilogue_t epilogue : epilogues) {
    Product product(CUBLASLT_ORDER_COL);
    Array d(kM * kN * kBatch);
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    product.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.device);
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, inputs.device);
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, leading);
    product.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, stride);
    product.run(&one, a, b, &zero, d);
    inputs.fetch();
    for (int i = 0; i < kM * kN * kBatch; ++i) {
      const double x = sum_of(a, b, i / (kM * kN), i % kM, i / kM % kN) + bias.host[i % kM];
      if (epilogue == CUBLASLT_EPILOGUE_BIAS) expect("bias", d.host[i], x);
      if (epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) expect("ReLU", d.host[i], x > 0 ? x : 0);
      if (epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) {
        expect("GELU", d.host[i], gelu(x));
        expect("the input of GELU", inputs.host[i], x);
      }
    }
  }

  Product backward(CUBLASLT_ORDER_COL);
  Array d(kM * kN * kBatch), sums(kN);
  backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_DGELU);
  backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, inputs.device);
  backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, leading);
  backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, stride);
  backward.run(&one, a, b, &zero, d);
  for (int i = 0; i < kM * kN * kBatch; ++i) {
    const double x = inputs.host[i], gradient = (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5;
    expect("the gradient of GELU", d.host[i], gradient * sum_of(a, b, i / (kM * kN), i % kM, i / kM % kN));
  }
  backward.set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BGRADB);
  backward.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, sums.device);
  backward.run(&one, a, b, &zero, d);
  sums.fetch();
  double total = 0;
  for (int k = 0; k < kK; ++k) total += b.host[kK * kN * (kBatch - 1) + k + 2 * kK];
  expect("the gradient of a bias", sums.host[2], total);
  CHECK(cublasLtDestroy(handle));
  if (failures == 0) std::printf("PASSED\n");
  return failures == 0 ? 0 : 1;
}
