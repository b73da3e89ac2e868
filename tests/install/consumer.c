/* Multiplies a matrix in memory, and one in a bundle when a file is named. */
#include <math.h>
#include <sptile.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sptile_status status) {
  if (status == SPTILE_OK) return;
  fprintf(stderr, "sptile: %s\n", sptile_last_error());
  exit((int)status);
}

/* Multiplies with a B of ones, so that C holds the row sums of A; returns the sum of the first column. */
static double multiply_ones(const sptile_plan* plan) {
  int64_t rows, cols, n;
  check(sptile_plan_shape(plan, &rows, &cols, &n));
  float* b = malloc((size_t)(cols * n) * sizeof(float));
  float* c = malloc((size_t)(rows * n) * sizeof(float));
  for (int64_t i = 0; i < cols * n; ++i) b[i] = 1;
  check(sptile_spmm(plan, 1, b, n, 0, c, n)); /* C = 1 * A * B + 0 * C */
  double sum = 0;
  for (int64_t r = 0; r < rows; ++r) sum += c[r * n];
  free(b);
  free(c);
  return sum;
}

int main(int argc, char** argv) {
  /* [ 1 . 2 ]
   * [ . . . ]
   * [ . 3 . ] */
  const int64_t row_ptr[] = {0, 2, 2, 3};
  const int32_t col_idx[] = {0, 2, 1};
  const float values[] = {1, 2, 3};

  sptile_spmm_options options;
  check(sptile_spmm_options_init(&options, sizeof options));
  options.n = 16;

  sptile_plan* plan;
  check(sptile_plan_spmm_csr(3, 3, row_ptr, col_idx, values, SPTILE_F32, &options, &plan));
  const char* kernel;
  check(sptile_plan_kernel(plan, &kernel));
  const double sum = multiply_ones(plan);
  printf("sptile %s, %s: the entries sum to %g\n", sptile_version(), kernel, sum);
  sptile_plan_destroy(plan);
  if (sum != 6) return 1;

  if (argc > 1) {
    sptile_bundle* bundle;
    check(sptile_bundle_open(argv[1], 0, &bundle));
    double sums[2];
    const char* formats[] = {"csr", "bittcf"};
    for (int i = 0; i < 2; ++i) {
      check(sptile_plan_spmm(bundle, formats[i], &options, &plan));
      sums[i] = multiply_ones(plan);
      printf("%s: the entries sum to %g\n", formats[i], sums[i]);
      sptile_plan_destroy(plan);
    }
    sptile_bundle_close(bundle);
    if (fabs(sums[0] - sums[1]) > 1e-5 * fabs(sums[0])) return 1;
  }
  return 0;
}
