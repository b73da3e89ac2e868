/* The C interface of libsptile-tools: read matrices, order rows, and convert matrices to bundles, like the
 * sptile command. Products are in libsptile (sptile.h), which is much smaller and does not depend on this
 * library.
 *
 * As in sptile.h, structs begin with their size, 0 is the default of every option, and functions that can
 * fail return sptile_status; sptile_tools_last_error() then states the cause and the remedy. Handles are
 * opaque, destroying NULL has no effect, and no function keeps a pointer to a struct, array or string after
 * it returns.
 *
 * Thread safety: all functions may be called from any thread. Matrices are immutable.
 *
 * Processes: each call that reads or writes HDF5 files or bundles starts the program sptile-hdf5, which is
 * installed with the library, by posix_spawn. The program exits before the call returns, and if the calling
 * thread exits. The disposition of SIGCHLD has no effect.
 *
 * Fork: in a process that was forked after the library was loaded, everything works on one thread, even if
 * threads of the parent were inside the library. The exception is ordering by METIS, which uses the random
 * numbers of the C library: no thread of the parent may have been inside METIS.
 */
#pragma once

#include "sptile.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A CSR matrix in host memory: rows in their original order, sorted entries without repetitions. */
typedef struct sptile_tools_matrix sptile_tools_matrix;

/* Returns the version of this interface. Within one version, functions and fields are only added. */
int sptile_tools_abi_version(void);

/* Returns the version of the library: "0.1.0". */
const char* sptile_tools_version(void);

/* Returns the message of the last failed call on this thread, "" before the first. It is valid until the next
 * failing call on the same thread. */
const char* sptile_tools_last_error(void);

/* Progress callback, called about twenty times per second on the calling thread: `done` of `total` units of
 * the phase ("read", "reorder"). `total` is 0 if unknown. A nonzero result cancels the call, which soon
 * returns SPTILE_STATUS_IO ("cancelled") and leaves no file. */
typedef int (*sptile_tools_progress)(void* user, const char* phase, int64_t done, int64_t total);

/* Bundles that contain formats of the transpose. Those of a symmetric matrix are used for both. */
typedef enum sptile_tools_transpose {
  SPTILE_TRANSPOSE_NEVER = 0,
  SPTILE_TRANSPOSE_ALWAYS = 1,
  SPTILE_TRANSPOSE_IF_SYMMETRIC = 2
} sptile_tools_transpose;

/* First vertex number of an edge list. */
typedef enum sptile_tools_base {
  SPTILE_BASE_AUTO = 0, /* 0 if a vertex 0 occurs, otherwise 1 */
  SPTILE_BASE_0 = 1,
  SPTILE_BASE_1 = 2
} sptile_tools_base;

/* Options of all functions. */
typedef struct sptile_tools_options {
  size_t size;
  /* for all calls */
  sptile_tools_progress progress; /* NULL: no progress */
  void* user;                     /* first argument of progress */
  int32_t threads;                /* 0: all */
  /* sptile_dtype of values. SPTILE_DTYPE_NONE: unchanged for a matrix (text: SPTILE_DTYPE_F64),
     SPTILE_DTYPE_F32 for the formats of a bundle */
  int32_t dtype;
  int32_t real_part; /* != 0: take the real part of complex values, which are refused otherwise */
  /* for orderings */
  int32_t window_rows;  /* window height for orderings, 1 to 1024; 0: that of all formats, or 8 */
  uint64_t seed;        /* seed of all random choices; 0: 1 */
  const char* method;   /* see 'sptile list reorderers'; NULL: "identity" */
  const char* preset;   /* NULL: none */
  const char* settings; /* "name=value,name=value"; NULL: none */
  /* for bundles */
  const char* formats; /* comma-separated, as for 'sptile convert --format'; NULL: "all" */
  int32_t transpose;   /* sptile_tools_transpose */
  int32_t refreshable; /* != 0: store the source position of each value, so that values can be replaced */
  int32_t overwrite;   /* != 0: replace an existing file */
  int32_t strict; /* != 0: refuse values that dtype cannot represent; otherwise they are rounded, to infinity
                     or 0 if necessary */
  /* for files, see 'sptile help convert' */
  const char* kind;    /* format of the file, as for --from; NULL: detect */
  int32_t base;        /* sptile_tools_base */
  int32_t separator;   /* ' ' (any white space), '\t', ',' or ';'; 0: that of the first edge */
  const char* columns; /* columns of an edge list, as for --columns; NULL: from its heading */
} sptile_tools_options;

#define SPTILE_TOOLS_OPTIONS_INIT                                                                            \
  {                                                                                                          \
    sizeof(sptile_tools_options), NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, \
        NULL                                                                                                 \
  }

/* ---- Matrices ---- */

/* Reads a matrix from any file that the command reads: Matrix Market, edge lists, SciPy archives, bundles and
 * others. `options` may be NULL for the defaults, here and below. After a failure, *matrix is NULL. */
sptile_status sptile_tools_read(const char* path, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix);

/* Returns note `number`, from 0, about what was inferred, skipped or summed while the matrix was read; NULL
 * after the last one. `is_warning` may be NULL; it receives 1 if the result is not exact. Valid as long as
 * the matrix. */
const char* sptile_tools_note(const sptile_tools_matrix* matrix, int64_t number, int32_t* is_warning);

/* Copies and checks CSR arrays in host memory, with offsets and columns of SPTILE_DTYPE_I32 or
 * SPTILE_DTYPE_I64, and values of any type or none. Values of SPTILE_DTYPE_I64 become SPTILE_DTYPE_F64. */
sptile_status sptile_tools_copy(const sptile_arrays* arrays, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix);

/* Returns the arrays of a matrix, borrowed: SPTILE_DTYPE_I64 offsets and SPTILE_DTYPE_I32 columns; `values`
 * is NULL and value_dtype SPTILE_DTYPE_NONE for a pattern. Set arrays->size before the call. */
sptile_status sptile_tools_arrays(const sptile_tools_matrix* matrix, sptile_arrays* arrays);

/* Number of values of the source that the type of the matrix cannot represent. */
typedef struct sptile_tools_loss {
  size_t size;
  int64_t overflowed;  /* finite values that became infinite */
  int64_t underflowed; /* nonzeros that became 0 */
  int64_t inexact;     /* integers that were rounded */
} sptile_tools_loss;

/* Returns the losses of a matrix. Set loss->size before the call. */
sptile_status sptile_tools_losses(const sptile_tools_matrix* matrix, sptile_tools_loss* loss);

/* Destroys a matrix. */
void sptile_tools_matrix_destroy(sptile_tools_matrix* matrix);

/* ---- Conversion ---- */

/* Result of a conversion. */
typedef struct sptile_tools_report {
  size_t size;
  int64_t rows, cols, nnz;
  int64_t duplicates;  /* repeated entries of a file that were added */
  int64_t overflowed;  /* values that became infinite */
  uint64_t file_bytes; /* size of the bundle */
  double seconds;      /* time of the conversion without reading */
  int32_t symmetric;   /* 1: equals its transpose */
  int32_t reordered;   /* 1: rows are reordered inside the formats */
  int64_t underflowed; /* nonzeros that became 0 */
  int64_t inexact;     /* integers that were rounded */
} sptile_tools_report;

/* Converts a matrix to a bundle at `path`, which is written completely or not at all. If `path` is NULL, the
 * bundle is written to `fd`, an empty regular file that is open for reading and writing (memfd_create creates
 * one in memory). After a failure, its content is invalid. `report` may be NULL. */
sptile_status sptile_tools_convert(const sptile_tools_matrix* matrix, const char* path, int fd,
                                   const sptile_tools_options* options, sptile_tools_report* report);

/* ---- Ordering ---- */

#define SPTILE_TOOLS_HEIGHTS 5

/* Statistics of the windows of one height. */
typedef struct sptile_tools_windows {
  int64_t window_rows;
  int64_t distinct_columns; /* summed over all windows */
  int64_t tc_blocks;        /* sum of ceil(distinct columns / 8) */
  double mean_nnz_tc;       /* entries / tc_blocks; 0 without blocks */
  double nnz1_ratio;        /* share of the distinct columns that hold exactly one entry */
} sptile_tools_windows;

/* Density of windows and locality of rows. */
typedef struct sptile_tools_quality {
  size_t size;
  sptile_tools_windows windows[SPTILE_TOOLS_HEIGHTS]; /* 8, 16, 32, 64 and 128 rows */
  double jaccard_cost;        /* sum over adjacent rows: 0 if all are equal, at most rows - 1 */
  double working_set_columns; /* average number of distinct columns in 1024 rows */
  int64_t bandwidth;          /* -1: the matrix is not square */
} sptile_tools_quality;

/* Orders the rows of a matrix. new_to_old receives the old row of each new row. `before` and `after`, which
 * may be NULL, receive the quality of the order. */
sptile_status sptile_tools_reorder(const sptile_tools_matrix* matrix, const sptile_tools_options* options,
                                   int32_t* new_to_old, sptile_tools_quality* before,
                                   sptile_tools_quality* after);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
