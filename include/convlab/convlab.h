/* convlab for programs in C, and in whatever calls C: models in ONNX's format, run on CPUs and GPUs.
 *
 *     const convlab_api* convlab = convlab_get_api(CONVLAB_API_VERSION);
 *     convlab_session* session = NULL;
 *     if (convlab->open("net.onnx", NULL, &session) != CONVLAB_OK) puts(convlab->last_error());
 *
 * Functions come in one table, which only grows: a program that was compiled with one version of it runs with every
 * later library. examples/c/classify.c is a whole program; convlab.hpp is this for C++. */
#ifndef CONVLAB_CONVLAB_H
#define CONVLAB_CONVLAB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CONVLAB_API_VERSION 2

/* The most sizes that a shape has here. */
#define CONVLAB_MAX_RANK 8

/* What came of a call. */
typedef enum convlab_status {
  CONVLAB_OK = 0,
  CONVLAB_BAD_INPUT = 2,   /* a model, a shape, a type or an option is wrong */
  CONVLAB_UNAVAILABLE = 3, /* the device or kernel asked for is not there */
  CONVLAB_FAILED = 4       /* anything else: a defect of convlab, or no memory */
} convlab_status;

/* The type of one element. FLOAT16 is IEEE binary16. */
typedef enum convlab_type {
  CONVLAB_FLOAT32 = 0,
  CONVLAB_FLOAT16 = 1,
  CONVLAB_FLOAT64 = 2,
  CONVLAB_UINT8 = 3,
  CONVLAB_INT8 = 4,
  CONVLAB_INT32 = 5,
  CONVLAB_INT64 = 6
} convlab_type;

/* Whose memory an array is in. */
typedef enum convlab_memory {
  CONVLAB_HOST = 0,
  CONVLAB_DEVICE = 1 /* of the session's device, where that is a GPU */
} convlab_memory;

/* A model on a device. Any thread may use it at any time; runs of several threads take turns. */
typedef struct convlab_session convlab_session;

/* How a model is to be computed. Fields that are NULL or 0 say the default, so `{0}` says nothing. */
typedef struct convlab_options {
  const char* device; /* "auto" (default: a GPU where there is one), "cpu", "cuda", "cuda:1" */
  const char*
      math; /* of convolutions: "fp32" (default), "tf32", "bf16x2", "bf16", "fp16"; never less precise than this */
  const char* plan; /* "fused" (default), "layers", "folded" */
  int32_t threads;  /* of the processor; 0: as many as this process may use */

  /* Above 0: calls of few images that come from several threads are computed together, and each waits at most so long,
   * in microseconds, for others to come. 0 (default): each call is computed by itself. */
  int32_t batch_wait_us;
  int32_t batch_images; /* the most that are computed together; 0: 64 */
} convlab_options;

/* An input or an output of a model. */
typedef struct convlab_value {
  const char* name;                /* as long as the session lives */
  int32_t type;                    /* a convlab_type */
  int32_t rank;                    /* of outputs 0: their shapes follow from the inputs' */
  int64_t shape[CONVLAB_MAX_RANK]; /* -1 for sizes that the model leaves open, such as the number of images */
} convlab_value;

/* An array of the program's: dense, row-major, the number of images first. */
typedef struct convlab_array {
  void* data;     /* only read where it is an input */
  int32_t type;   /* a convlab_type */
  int32_t memory; /* a convlab_memory */
  int32_t rank;
  int64_t shape[CONVLAB_MAX_RANK];
} convlab_array;

/* Functions that return a convlab_status return CONVLAB_OK, or something else and then last_error() says what is wrong,
 * where, and what to do; results are then as they were. */
typedef struct convlab_api {
  /* The version of this table: CONVLAB_API_VERSION of the library. Fields are only ever added behind the last. */
  int32_t version;

  /* Of the library: "0.1.0". */
  const char* (*library_version)(void);

  /* Of the calling thread, in words; valid until its next call. "" where nothing has failed. */
  const char* (*last_error)(void);

  /* Loads a model: an .onnx file, an MXNet .params file with its symbol beside it, or a shipped model's name such as
   * "fa19". `options` may be NULL. The session must be given to close(). */
  convlab_status (*open)(const char* model, const convlab_options* options, convlab_session** session);

  /* Ends a session that no thread uses any more; NULL is fine. */
  void (*close)(convlab_session* session);

  /* Where the session computes: "NVIDIA H200, ..." As long as the session lives. */
  const char* (*device)(const convlab_session* session);

  /* The same as `open` takes it, with a GPU's number: "cuda:0". As long as the session lives. */
  const char* (*device_name)(const convlab_session* session);

  size_t (*input_count)(const convlab_session* session);
  size_t (*output_count)(const convlab_session* session);
  convlab_status (*input)(const convlab_session* session, size_t index, convlab_value* value);
  convlab_status (*output)(const convlab_session* session, size_t index, convlab_value* value);

  /* Fills all but the data of the outputs for inputs of these shapes, whose data may be NULL: in the inputs' memory.
   * The first call for a shape makes the model ready for it. */
  convlab_status (*output_shapes)(convlab_session* session, const convlab_array* inputs, size_t input_count,
                                  convlab_array* outputs, size_t output_count);

  /* Computes the outputs, whose data, types and shapes the program gives; returns when they are there. Inputs are
   * float32, or uint8 where all are; others are converted to float32. On a CPU, a model with one float32 or uint8 input
   * and one float32 output reads and writes the program's arrays themselves.
   *
   * With `stream`, a cudaStream_t of the session's GPU, all arrays must be in that GPU's memory: the work begins when
   * what the stream was given before is done, what the stream is given from now on waits for it, and run() may return
   * before. NULL means no stream; CUDA's default stream is (cudaStream_t)1, cudaStreamLegacy. */
  convlab_status (*run)(convlab_session* session, const convlab_array* inputs, size_t input_count,
                        const convlab_array* outputs, size_t output_count, void* stream);

  /* How inputs of these shapes are computed, as JSON: a list of steps with "name" (nodes of the model), "op", "kernel",
   * "flops" and "seconds", 0. The text must be given to free_text(). */
  convlab_status (*plan)(convlab_session* session, const convlab_array* inputs, size_t input_count, char** json);

  /* The same with seconds: medians of `repeat` runs, 1 or more, after one that warms up. */
  convlab_status (*profile)(convlab_session* session, const convlab_array* inputs, size_t input_count, int32_t repeat,
                            char** json);

  /* Frees a text; NULL is fine. */
  void (*free_text)(char* text);

  /* From version 2 on. Opens a session of the same model, on any device, which shares with `other` what both have in
   * memory of its weights. Where the options' device, math or plan is NULL, it is as other's. Runs of the two do not
   * take turns, and either may be closed first. */
  convlab_status (*clone)(const convlab_session* other, const convlab_options* options, convlab_session** session);
} convlab_api;

/* The table, for a program compiled with this version of it; NULL where the library is older. The only name that the
 * library exports. */
const convlab_api* convlab_get_api(int32_t version);

#ifdef __cplusplus
}
#endif

#endif
