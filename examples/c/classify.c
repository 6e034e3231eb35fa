/* Runs a model on an array filled with one value and prints the outputs: classify_c [MODEL [DEVICE]] */
#include <convlab/convlab.h>
#include <stdio.h>
#include <stdlib.h>

static const convlab_api* convlab;

static void must(convlab_status status) {
  if (status == CONVLAB_OK) return;
  fprintf(stderr, "classify_c: %s\n", convlab->last_error());
  exit((int)status);
}

static size_t count_of(const convlab_array* array) {
  size_t count = 1;
  for (int i = 0; i < array->rank; ++i) count *= (size_t)array->shape[i];
  return count;
}

int main(int argc, char** argv) {
  convlab = convlab_get_api(CONVLAB_API_VERSION);
  if (convlab == NULL) {
    fprintf(stderr, "classify_c: libconvlab is older than its header\n");
    return 3;
  }
  convlab_options options = {0};
  if (argc > 2) options.device = argv[2];
  convlab_session* session = NULL;
  must(convlab->open(argc > 1 ? argv[1] : "fa19", &options, &session));

  convlab_value value;
  must(convlab->input(session, 0, &value));
  convlab_array x = {.type = CONVLAB_FLOAT32, .rank = value.rank}, y;
  for (int i = 0; i < value.rank; ++i) x.shape[i] = value.shape[i] < 0 ? 1 : value.shape[i];
  float* pixels = malloc(count_of(&x) * sizeof(float));
  for (size_t i = 0; i < count_of(&x); ++i) pixels[i] = 0.5f;
  x.data = pixels;

  must(convlab->output_shapes(session, &x, 1, &y, 1));
  float* scores = malloc(count_of(&y) * sizeof(float));
  y.data = scores;
  must(convlab->run(session, &x, 1, &y, 1, NULL));
  for (size_t i = 0; i < count_of(&y); ++i) printf("%.6f\n", scores[i]);

  free(scores);
  free(pixels);
  convlab->close(session);
  return 0;
}
