/* The C interface of libsptile-tools: read a matrix, order its rows, convert it to a bundle. What the sptile
 * command does for files, for files and for arrays in memory; products are in libsptile (sptile.h), which is
 * much smaller and needs nothing of this.
 *
 * As in sptile.h: structs begin with their size, in structs of options 0 is the default of every field, and
 * everything that can fail returns sptile_status, after which sptile_tools_last_error() says what was wrong
 * and what would be right. Handles are opaque, destroying NULL does nothing, and no function keeps a pointer
 * to a struct, an array or a string after it returns.
 *
 * Thread safety: any thread may call anything; a matrix is immutable.
 *
 * Processes: HDF5 files and bundles are read and written by a child process (posix_spawn) for each call, the
 * program sptile-hdf5, which is installed with the library. It ends before the call does, and with the thread
 * that called; what becomes of SIGCHLD does not matter.
 *
 * Fork: in a process forked after the library was loaded everything works on one thread, also when threads
 * of the parent were inside the library. Orderings by METIS are the exception: no thread of the parent may
 * have been inside METIS, which shares the random numbers of the C library.
 */
#pragma once

#include "sptile.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A matrix in host memory: CSR, rows in their own order, entries sorted and of distinct places. */
typedef struct sptile_tools_matrix sptile_tools_matrix;

/* Version of this interface. Within one version functions and fields are only added. */
int sptile_tools_abi_version(void);

/* Version of the library: "0.1.0". */
const char* sptile_tools_version(void);

/* Message of the last call on this thread that did not return SPTILE_OK; "" before the first. Valid until the
 * next failing call on the same thread. */
const char* sptile_tools_last_error(void);

/* Is told some twenty times a second how far the work is, on the thread that called: `done` of `total` units
 * of a phase ("read", "reorder"); total is 0 where it is not known. A result other than 0 cancels: the call
 * returns SPTILE_IO, "cancelled", soon after, and leaves no file behind. */
typedef int (*sptile_tools_progress)(void* user, const char* phase, int64_t done, int64_t total);

/* Which bundles hold formats of the transpose, too. Those of a symmetric matrix serve for both. */
typedef enum sptile_tools_transpose {
  SPTILE_TRANSPOSE_NEVER = 0,
  SPTILE_TRANSPOSE_ALWAYS = 1,
  SPTILE_TRANSPOSE_IF_SYMMETRIC = 2
} sptile_tools_transpose;

/* From what the vertices of an edge list are counted. */
typedef enum sptile_tools_base {
  SPTILE_BASE_AUTO = 0, /* from 0 where a vertex 0 is named, else from 1 */
  SPTILE_BASE_0 = 1,
  SPTILE_BASE_1 = 2
} sptile_tools_base;

typedef struct sptile_tools_options {
  size_t size;
  /* of all calls */
  sptile_tools_progress progress; /* NULL: nobody is told */
  void* user;                     /* its first argument */
  int32_t threads;                /* 0: all */
  int32_t dtype; /* sptile_dtype of values. SPTILE_NONE: of a matrix as they are (text: SPTILE_F64), of the
                    formats of a bundle SPTILE_F32 */
  int32_t real_part; /* != 0: of complex Matrix Market files; else they are refused */
  /* of orderings */
  int32_t window_rows;  /* window height that orderings aim at, 1 to 1024; 0: that of all formats, or 8 */
  uint64_t seed;        /* of every random choice; 0: 1 */
  const char* method;   /* 'sptile list reorderers'; NULL: "identity" */
  const char* preset;   /* NULL: none */
  const char* settings; /* "name=value,name=value"; NULL: none */
  /* of bundles */
  const char* formats; /* with commas, as of 'sptile convert --format'; NULL: "all" */
  int32_t transpose;   /* sptile_tools_transpose */
  int32_t refreshable; /* != 0: stores where each value comes from, so that values can be replaced */
  int32_t overwrite;   /* != 0: a file that exists is replaced */
  int32_t strict; /* != 0: values and integers that dtype cannot hold are refused; else they are rounded, to
                     infinity or 0 where they are too large or too small */
  /* of files; 'sptile help convert' has their words */
  const char* kind;    /* of the file, as of --from; NULL: what the file says */
  int32_t base;        /* sptile_tools_base */
  int32_t separator;   /* ' ' (any white space), '\t', ',' or ';'; 0: that of the first edge */
  const char* columns; /* of an edge list, as of --columns; NULL: by its heading */
} sptile_tools_options;

#define SPTILE_TOOLS_OPTIONS_INIT                                                                            \
  {                                                                                                          \
    sizeof(sptile_tools_options), NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, NULL, 0, 0, \
        NULL                                                                                                 \
  }

/* ---- Matrices ---- */

/* Reads a matrix from any file that the command reads: Matrix Market, edge lists, SciPy archives, bundles,
 * ... `options` may be NULL here and below: the defaults. *matrix is NULL after a failure. */
sptile_status sptile_tools_read(const char* path, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix);

/* What was said while the matrix was read, by number from 0: what was guessed, left out or summed. NULL
 * behind the last one. `is_warning`, which may be NULL, becomes 1 where the result is not all it should be.
 * Valid as long as the matrix. */
const char* sptile_tools_note(const sptile_tools_matrix* matrix, int64_t number, int32_t* is_warning);

/* Copies and checks CSR arrays in host memory, with row pointers and columns of SPTILE_I32 or SPTILE_I64, and
 * values of any type or none; SPTILE_I64: integers, which become SPTILE_F64. */
sptile_status sptile_tools_copy(const sptile_arrays* arrays, const sptile_tools_options* options,
                                sptile_tools_matrix** matrix);

/* The arrays of a matrix, borrowed: row pointers SPTILE_I64, columns SPTILE_I32, `values` NULL and
 * value_dtype SPTILE_NONE for a pattern. arrays->size says how much is wanted. */
sptile_status sptile_tools_arrays(const sptile_tools_matrix* matrix, sptile_arrays* arrays);

/* Values of a file or of arrays that the type of the matrix cannot hold. */
typedef struct sptile_tools_loss {
  size_t size;
  int64_t overflowed;  /* finite values that became infinite */
  int64_t underflowed; /* nonzeros that became 0 */
  int64_t inexact;     /* integers that became other numbers */
} sptile_tools_loss;

/* Fills *loss; loss->size says how much is wanted. */
sptile_status sptile_tools_losses(const sptile_tools_matrix* matrix, sptile_tools_loss* loss);

void sptile_tools_matrix_destroy(sptile_tools_matrix* matrix);

/* ---- Conversion ---- */

typedef struct sptile_tools_report {
  size_t size;
  int64_t rows, cols, nnz;
  int64_t duplicates;  /* entries of a file that were summed into others */
  int64_t overflowed;  /* values that are too large for the type and became infinite */
  uint64_t file_bytes; /* of the bundle */
  double seconds;      /* that the conversion took, without reading */
  int32_t symmetric;   /* 1: equals its transpose */
  int32_t reordered;   /* 1: rows stand in another order inside the formats */
  int64_t underflowed; /* nonzeros that are too small for the type and became 0 */
  int64_t inexact;     /* integers that the type cannot hold exactly */
} sptile_tools_report;

/* Converts a matrix to a bundle at `path`, which appears whole or not at all. With path = NULL the bundle is
 * written to `fd`, an empty regular file open for reading and writing (memfd_create makes one in memory);
 * what is in it after a failure is no bundle. `report` may be NULL. */
sptile_status sptile_tools_convert(const sptile_tools_matrix* matrix, const char* path, int fd,
                                   const sptile_tools_options* options, sptile_tools_report* report);

/* ---- Ordering ---- */

#define SPTILE_TOOLS_HEIGHTS 5

/* Windows of one height. */
typedef struct sptile_tools_windows {
  int64_t window_rows;
  int64_t distinct_columns; /* summed over windows */
  int64_t tc_blocks;        /* sum of ceil(distinct columns / 8) */
  double mean_nnz_tc;       /* entries / tc_blocks; 0 without blocks */
  double nnz1_ratio;        /* share of the distinct columns that hold exactly one entry */
} sptile_tools_windows;

/* How dense windows are, and how near to each other rows stand that share columns. */
typedef struct sptile_tools_quality {
  size_t size;
  sptile_tools_windows windows[SPTILE_TOOLS_HEIGHTS]; /* of 8, 16, 32, 64 and 128 rows */
  double jaccard_cost;        /* of neighbouring rows, summed: 0 where all are alike, to rows - 1 */
  double working_set_columns; /* distinct columns in 1024 rows, in the mean */
  int64_t bandwidth;          /* -1: the matrix is not square */
} sptile_tools_quality;

/* Orders the rows of a matrix. new_to_old gets the old row of each new row, one id per row; `before` and
 * `after`, which may be NULL, how good the order was and is. */
sptile_status sptile_tools_reorder(const sptile_tools_matrix* matrix, const sptile_tools_options* options,
                                   int32_t* new_to_old, sptile_tools_quality* before,
                                   sptile_tools_quality* after);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
