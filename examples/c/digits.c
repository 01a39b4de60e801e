/* Reads handwritten digits: digits MODEL DRAWINGS
 *
 * DRAWINGS is a text file with 28 lines of 28 characters per digit: '.' is background, '#' is ink, '-' and '+'
 * are between. The digits are classified in batches of two, and the last batch may have one. The model accepts
 * any number of rows, so nothing is padded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tern/tern.h>

enum { kSide = 28, kPixels = kSide * kSide, kClasses = 10, kBatch = 2, kMaxDigits = 100 };

/* Prints and frees the error. Returns the exit status. */
static int fail(const char* what, TernStatus* status) {
  fprintf(stderr, "%s: %s\n", what, tern_status_message(status));
  tern_status_free(status);
  return 2;
}

/* Reads at most kMaxDigits drawings. Returns their number, or -1 if the file is not made of drawings. */
static int read_drawings(const char* path, float* pixels) {
  static const char kShades[] = ".-+#";
  int count = 0;
  FILE* file = fopen(path, "r");
  if (!file) return -1;
  for (int c = fgetc(file); c != EOF; c = fgetc(file)) {
    const char* shade = c == '\n' || c == '\0' ? NULL : strchr(kShades, c);
    if (c == '\n') continue;
    if (!shade || count == kMaxDigits * kPixels) {
      count = -1;
      break;
    }
    pixels[count++] = (float)(shade - kShades) / 3;
  }
  fclose(file);
  return count % kPixels ? -1 : count / kPixels;
}

static int best_of(const float* probabilities) {
  int best = 0;
  for (int i = 1; i < kClasses; ++i)
    if (probabilities[i] > probabilities[best]) best = i;
  return best;
}

/* Classifies `rows` digits and prints one line per digit. The predictor reads the pixels in place. */
static TernStatus* classify(TernPredictor* predictor, const float* pixels, int rows) {
  const int64_t dims[] = {rows, 1, kSide, kSide};
  TernPort *image = NULL, *probabilities = NULL;
  TernStatus* status = tern_predictor_input(predictor, "image", &image);
  if (!status) status = tern_predictor_output(predictor, "probabilities", &probabilities);
  if (!status)
    status = tern_port_share(image, TERN_F32, pixels, (size_t)rows * kPixels * sizeof(float), dims, 4);
  if (!status) status = tern_predictor_run(predictor, NULL);
  if (status) return status;
  const float* out = tern_port_data(probabilities); /* valid until the next run */
  for (int i = 0; i < rows; ++i) {
    const int digit = best_of(out + i * kClasses);
    printf("%d %.3f\n", digit, out[i * kClasses + digit]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return fprintf(stderr, "usage: digits MODEL DRAWINGS\n"), 2;
  static float pixels[kMaxDigits * kPixels];
  const int count = read_drawings(argv[2], pixels);
  if (count < 0) return fprintf(stderr, "%s has no drawings of 28x28\n", argv[2]), 2;

  TernConfig* config = tern_config_new();
  tern_config_set_model_path(config, argv[1]);
  tern_config_set_threads(config, 2);
  TernPredictor* predictor = NULL;
  TernStatus* status = tern_predictor_create(config, &predictor);
  tern_config_free(config);
  if (status) return fail("loading", status);

  for (int at = 0; !status && at < count; at += kBatch)
    status = classify(predictor, pixels + at * kPixels, count - at < kBatch ? count - at : kBatch);
  tern_predictor_free(predictor);
  return status ? fail("classifying", status) : 0;
}
