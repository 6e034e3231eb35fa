/* convlab's C API: runs ONNX models on CPUs and GPUs. For C programs and any language that can call C.
 *
 *     const convlab_api* convlab = convlab_get_api(CONVLAB_API_VERSION);
 *     convlab_session* session = NULL;
 *     if (convlab->open("net.onnx", NULL, &session) != CONVLAB_OK) puts(convlab->last_error());
 *
 * The API is one table of functions. The table only grows, so a program compiled against one version runs with every
 * later library. examples/c/classify.c is a complete program; convlab.hpp is the C++ API. */
#ifndef CONVLAB_CONVLAB_H
#define CONVLAB_CONVLAB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONVLAB_API_VERSION 2

/* The maximum rank (number of dimensions) of an array. */
#define CONVLAB_MAX_RANK 8

/* The result of a call. */
typedef enum convlab_status {
  CONVLAB_OK = 0,
  CONVLAB_BAD_INPUT = 2,   /* a model, a shape, a type or an option is wrong */
  CONVLAB_UNAVAILABLE = 3, /* the requested device or kernel is not available */
  CONVLAB_FAILED = 4       /* any other error: out of memory, or a bug in convlab */
} convlab_status;

/* The type of an array's elements. FLOAT16 is IEEE binary16. */
typedef enum convlab_type {
  CONVLAB_FLOAT32 = 0,
  CONVLAB_FLOAT16 = 1,
  CONVLAB_FLOAT64 = 2,
  CONVLAB_UINT8 = 3,
  CONVLAB_INT8 = 4,
  CONVLAB_INT32 = 5,
  CONVLAB_INT64 = 6
} convlab_type;

/* The memory that holds an array. */
typedef enum convlab_memory {
  CONVLAB_HOST = 0,
  CONVLAB_DEVICE = 1 /* the memory of the session's GPU */
} convlab_memory;

/* A model on a device. Thread-safe: any thread may use it at any time; runs from several threads are serialized. A
 * child process created by fork() cannot use its parent's sessions: runs return CONVLAB_UNAVAILABLE. */
typedef struct convlab_session convlab_session;

/* Options of a session. A field that is NULL or 0 selects its default, so `{0}` selects all defaults. */
typedef struct convlab_options {
  const char* device; /* "auto" (default: a GPU if there is one, otherwise the CPU), "cpu", "cuda", "cuda:1" */

  /* The minimum precision of convolutions: "fp32" (default), "tf32", "bf16x2", "bf16" or "fp16". */
  const char* math;

  /* "fused" (default): one step for a convolution with its bias, pooling and activation. "layers": one step per
   * operator. "folded": as fused, and chains of linear operators are folded into one operator. */
  const char* plan;
  int32_t threads; /* CPU threads; 0: all that this process may use */

  /* If above 0, calls with few images from several threads are batched; each call waits at most this many microseconds
   * for others. 0 (default): no batching across calls. */
  int32_t batch_wait_us;
  int32_t batch_images; /* the maximum number of images in such a batch; 0: 64 */
} convlab_options;

/* An input or an output of a model. */
typedef struct convlab_value {
  const char* name;                /* owned by the session, valid until close() */
  int32_t type;                    /* a convlab_type */
  int32_t rank;                    /* 0 for outputs, whose shapes depend on the inputs: see output_shapes() */
  int64_t shape[CONVLAB_MAX_RANK]; /* -1 for a size that the model leaves open, such as the batch size */
} convlab_value;

/* An array owned by the caller: dense, row-major, batch size first (NCHW for images). */
typedef struct convlab_array {
  void* data;     /* convlab does not write to inputs */
  int32_t type;   /* a convlab_type */
  int32_t memory; /* a convlab_memory */
  int32_t rank;
  int64_t shape[CONVLAB_MAX_RANK];
} convlab_array;

/* Functions that return a convlab_status return CONVLAB_OK on success. On any other status, last_error() says what is
 * wrong, where, and what to do; the results are unchanged and the session stays usable. */
typedef struct convlab_api {
  /* The version of this table: the library's CONVLAB_API_VERSION. New fields are only added at the end. */
  int32_t version;

  /* Returns the library's version: "0.1.0". */
  const char* (*library_version)(void);

  /* Returns the message of the last error in the calling thread; "" if no call has failed. Valid until the thread's
   * next call. */
  const char* (*last_error)(void);

  /* Opens a session for a model: an .onnx file, an MXNet .params file with its -symbol.json file in the same folder, or
   * the name of a shipped model such as "fa19". `options` may be NULL. The caller must close() the session. */
  convlab_status (*open)(const char* model, const convlab_options* options, convlab_session** session);

  /* Closes a session. No thread may be using it. NULL is allowed. Does nothing in a forked child process. */
  void (*close)(convlab_session* session);

  /* Returns a description of the session's device: "NVIDIA H200, ...". Owned by the session, valid until close(). */
  const char* (*device)(const convlab_session* session);

  /* Returns the device name as open() accepts it, with the GPU's index: "cuda:0". Owned by the session, valid until
   * close(). */
  const char* (*device_name)(const convlab_session* session);

  /* The model's inputs and outputs, in the model's order. CONVLAB_BAD_INPUT if `index` is out of range. */
  size_t (*input_count)(const convlab_session* session);
  size_t (*output_count)(const convlab_session* session);
  convlab_status (*input)(const convlab_session* session, size_t index, convlab_value* value);
  convlab_status (*output)(const convlab_session* session, size_t index, convlab_value* value);

  /* Sets type, memory, rank and shape of each output for inputs of these shapes and types; leaves `data` alone. The
   * outputs are in the same memory as the inputs, whose `data` may be NULL. The first call with a new shape takes
   * longer, because it prepares the model for that shape. */
  convlab_status (*output_shapes)(convlab_session* session, const convlab_array* inputs, size_t input_count,
                                  convlab_array* outputs, size_t output_count);

  /* Computes the outputs into arrays of the caller, with the types and shapes that output_shapes() sets. Returns when
   * they are complete. Inputs are used as they are if they are all float32 or all uint8; otherwise they are converted
   * to float32, which works only in host memory. On a CPU, a model with one float32 or uint8 input and one float32
   * output reads and writes the caller's arrays directly, without a copy.
   *
   * All arrays are in host memory, or all are in the memory of the session's GPU. Only the latter allows a `stream`, a
   * cudaStream_t of that GPU: the run is ordered in the stream after all earlier work and before all later work, and
   * run() may return before it completes. NULL means no stream; CUDA's default stream is (cudaStream_t)1,
   * cudaStreamLegacy. */
  convlab_status (*run)(convlab_session* session, const convlab_array* inputs, size_t input_count,
                        const convlab_array* outputs, size_t output_count, void* stream);

  /* Returns the plan for inputs of these shapes as JSON: a list of steps with "name" (the model's nodes), "op",
   * "kernel", "flops" (floating-point operations per run) and "seconds" (0). The caller must free the text with
   * free_text(). */
  convlab_status (*plan)(convlab_session* session, const convlab_array* inputs, size_t input_count, char** json);

  /* Same as plan(), with measured "seconds": the median of `repeat` runs (at least 1) after one warm-up run. Inputs
   * must be in host memory. */
  convlab_status (*profile)(convlab_session* session, const convlab_array* inputs, size_t input_count, int32_t repeat,
                            char** json);

  /* Frees a text returned by plan() or profile(). NULL is allowed. */
  void (*free_text)(char* text);

  /* Since version 2. Opens another session of the same model, on any device. Weights that both sessions use in the same
   * form are in memory once. If the options' device, math or plan is NULL, it is the same as in `other`. Runs of the
   * two sessions are not serialized with each other, and either may be closed first. */
  convlab_status (*clone)(const convlab_session* other, const convlab_options* options, convlab_session** session);
} convlab_api;

/* Returns the table for a program compiled with this version of the header; NULL if the library is older. This is the
 * only symbol that the library exports. */
const convlab_api* convlab_get_api(int32_t version);

#ifdef __cplusplus
}
#endif

#endif
