/* How long the first use of libsptile on a CUDA device takes: code is decompressed and loaded then.
 *
 *     sptile_cold_start [FORMAT[:N]]...
 *
 * prints one line of JSON: milliseconds of cudaFree(0), which makes the context, and then for each format, in
 * the order given, of its first plan (the matrix is converted on the device) and of its first run with N
 * columns (64). A fresh process for each measurement. Exit code 77: no device. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sptile.h"

enum { kRows = 4096, kPerRow = 8, kMostColumns = 512 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void expect(int good, const char* what, const char* why) {
  if (good) return;
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}
static void expect_cuda(cudaError_t code, const char* what) {
  expect(code == cudaSuccess, what, cudaGetErrorString(code));
}
static void expect_sptile(sptile_status status, const char* what) {
  expect(status == SPTILE_STATUS_OK, what, sptile_last_error());
}

static void* on_device(const void* from, size_t bytes) {
  void* to = NULL;
  expect_cuda(cudaMalloc(&to, bytes), "cudaMalloc");
  if (from != NULL)
    expect_cuda(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  else
    expect_cuda(cudaMemset(to, 0, bytes), "cudaMemset");
  return to;
}

/* A band matrix and operands, in device memory. */
typedef struct Problem {
  int64_t* row_ptr;
  int32_t* col_idx;
  float *values, *b, *c;
} Problem;

static Problem make_problem(void) {
  static int64_t row_ptr[kRows + 1];
  static int32_t col_idx[kRows * kPerRow];
  static float values[kRows * kPerRow];
  for (int r = 0; r < kRows; ++r) {
    row_ptr[r + 1] = row_ptr[r] + kPerRow;
    for (int i = 0; i < kPerRow; ++i) {
      col_idx[r * kPerRow + i] = (r < kRows - kPerRow ? r : kRows - kPerRow) + i;
      values[r * kPerRow + i] = 1;
    }
  }
  const size_t dense = sizeof(float) * kRows * kMostColumns;
  return (Problem){on_device(row_ptr, sizeof row_ptr), on_device(col_idx, sizeof col_idx),
                   on_device(values, sizeof values), on_device(NULL, dense), on_device(NULL, dense)};
}

static void measure(const Problem* p, const char* argument) {
  char format[64];
  snprintf(format, sizeof format, "%s", argument);
  char* const colon = strchr(format, ':');
  if (colon != NULL) *colon = '\0';
  const long n = colon != NULL ? strtol(colon + 1, NULL, 10) : 64;
  expect(n >= 1 && n <= kMostColumns, argument, "N must be 1 to 512");
  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = arrays.cols = kRows;
  arrays.nnz = (int64_t)kRows * kPerRow;
  arrays.row = p->row_ptr;
  arrays.col = p->col_idx;
  arrays.values = p->values;
  arrays.value_dtype = SPTILE_DTYPE_F32;
  arrays.device = SPTILE_DEVICE_CUDA;
  sptile_plan_options options = SPTILE_PLAN_OPTIONS_INIT;
  options.n = n;
  options.format = format;
  options.device = SPTILE_DEVICE_CUDA;
  sptile_operands operands = SPTILE_OPERANDS_INIT;
  operands.dense[0].data = p->b;
  operands.dense[1].data = p->c;
  sptile_matrix* matrix = NULL;
  sptile_plan* plan = NULL;
  const double begin = now();
  expect_sptile(sptile_matrix_create(&arrays, NULL, NULL, &matrix), argument);
  expect_sptile(sptile_plan_create(matrix, "spmm", &options, &plan), argument);
  const double planned = now();
  expect_sptile(sptile_run(plan, &operands, NULL, NULL), argument);
  expect_cuda(cudaDeviceSynchronize(), argument);
  const double done = now();
  sptile_plan_info info = {.size = sizeof info};
  expect_sptile(sptile_plan_describe(plan, &info), argument);
  printf(", {\"kernel\": \"%s\", \"n\": %ld, \"plan_ms\": %.2f, \"run_ms\": %.2f}", info.kernel, n,
         planned - begin, done - planned);
  sptile_plan_destroy(plan);
  sptile_matrix_destroy(matrix);
}

int main(int count, char** arguments) {
  const double begin = now();
  const cudaError_t code = cudaFree(NULL);
  if (code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver) return 77;
  expect_cuda(code, "cudaFree");
  printf("[{\"cuda_free_ms\": %.2f}", now() - begin);
  if (count > 1) {
    const Problem problem = make_problem();
    for (int i = 1; i < count; ++i) measure(&problem, arguments[i]);
  }
  puts("]");
  return 0;
}
