/* Reorders the rows of a matrix in memory and converts it to a bundle. */
#include <sptile_tools.h>
#include <stdio.h>
#include <stdlib.h>

static void check(sptile_status status) {
  if (status == SPTILE_STATUS_OK) return;
  fprintf(stderr, "sptile: %s\n", sptile_tools_last_error());
  exit((int)status);
}

/* Called about twenty times per second; a nonzero result cancels the conversion. */
static int show(void* user, const char* phase, int64_t done, int64_t total) {
  (void)user;
  fprintf(stderr, "%s %lld of %lld\n", phase, (long long)done, (long long)total);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) return SPTILE_STATUS_USAGE;
  /* [ 1 . 2 ]
   * [ . . . ]
   * [ . 3 . ] */
  const int32_t row_ptr[] = {0, 2, 2, 3};
  const int32_t col_idx[] = {0, 2, 1};
  const double values[] = {1, 2, 3};

  sptile_arrays arrays = SPTILE_ARRAYS_INIT;
  arrays.rows = 3;
  arrays.cols = 3;
  arrays.nnz = 3;
  arrays.row = row_ptr;
  arrays.col = col_idx;
  arrays.values = values;
  arrays.value_dtype = SPTILE_DTYPE_F64;
  arrays.row_dtype = arrays.col_dtype = SPTILE_DTYPE_I32;

  sptile_tools_matrix* matrix;
  check(sptile_tools_copy(&arrays, NULL, &matrix)); /* or sptile_tools_read("matrix.mtx", ...) */

  sptile_tools_options options = SPTILE_TOOLS_OPTIONS_INIT;
  options.method = "pack";
  options.formats = "bittcf,tall:64";
  options.overwrite = 1;
  options.progress = show;
  sptile_tools_report report;
  report.size = sizeof report;
  check(sptile_tools_convert(matrix, argv[1], -1, &options, &report));
  sptile_tools_matrix_destroy(matrix);
  printf("%s: %lld x %lld, %lld nonzeros, %llu bytes\n", argv[1], (long long)report.rows,
         (long long)report.cols, (long long)report.nnz, (unsigned long long)report.file_bytes);
  return report.nnz == 3 ? 0 : 1;
}
