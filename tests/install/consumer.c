/* Multiplies a matrix in memory and, if a file is given, the matrix of a bundle. */
#include <math.h>
#include <sptile.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sptile_status status) {
  if (status == SPTILE_STATUS_OK) return;
  fprintf(stderr, "sptile: %s\n", sptile_last_error());
  exit((int)status);
}

/* Plans C = A B for 16 columns. */
static sptile_plan* plan_spmm(sptile_matrix* matrix, const char* format, sptile_plan_info* info) {
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = 16;
  options.format = format;
  sptile_plan* plan;
  check(sptile_plan_create(matrix, "spmm", &options, &plan));
  info->size = sizeof *info;
  check(sptile_plan_describe(plan, info));
  return plan;
}

/* Multiplies A by a matrix of ones. Returns the sum of the first column of C: the sum of all values of A. */
static double multiply_ones(const sptile_plan* plan, const sptile_plan_info* info) {
  float* b = malloc((size_t)(info->cols * info->n) * sizeof(float));
  float* c = malloc((size_t)(info->rows * info->n) * sizeof(float));
  for (int64_t i = 0; i < info->cols * info->n; ++i) b[i] = 1;
  sptile_operands operands = SPTILE_OPERANDS_INIT; /* C = 1 * A * B + 0 * C */
  operands.dense[0].data = b;
  operands.dense[1].data = c;
  check(sptile_run(plan, &operands, NULL, NULL));
  double sum = 0;
  for (int64_t r = 0; r < info->rows; ++r) sum += c[r * info->n];
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

  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = 3;
  arrays.cols = 3;
  arrays.nnz = 3;
  arrays.row = row_ptr;
  arrays.col = col_idx;
  arrays.values = values;
  arrays.value_dtype = SPTILE_DTYPE_F32;
  sptile_matrix* matrix;
  check(sptile_matrix_create(&arrays, NULL, NULL, &matrix));
  sptile_plan_info info;
  sptile_plan* plan = plan_spmm(matrix, NULL, &info);
  const double sum = multiply_ones(plan, &info);
  printf("sptile %s, %s: sum of the values: %g\n", sptile_version(), info.kernel, sum);
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
  if (sum != 6) return 1;

  if (argc > 1) {
    check(sptile_matrix_open(argv[1], NULL, &matrix));
    double sums[2];
    const char* formats[] = {"csr", "bittcf"};
    for (int i = 0; i < 2; ++i) {
      plan = plan_spmm(matrix, formats[i], &info);
      sums[i] = multiply_ones(plan, &info);
      printf("%s: sum of the values: %g\n", formats[i], sums[i]);
      sptile_plan_destroy(plan);
    }
    sptile_matrix_destroy(matrix);
    if (fabs(sums[0] - sums[1]) > 1e-5 * fabs(sums[0])) return 1;
  }
  return 0;
}
