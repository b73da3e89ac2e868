"""Sections of sptile(1) and of the command reference that belong to no option."""

GENERATED = ("Generated from the declarations of the command by `tools/manual/make_pages.py markdown SPTILE FILE`. "
             "`sptile help VERB` and `man sptile-VERB` print the same texts.")

DESCRIPTION = """\
sptile reads a sparse matrix once, reorders its rows, converts it to tile formats for tensor cores and writes one \
bundle: an HDF5 file with an additional header. The runtime library, `sptile run` and `sptile bench` multiply with \
bundles. Orderings permute rows only inside the formats; results are always in the original row order.
Matrices are Matrix Market files, plain or compressed with gzip, bzip2, xz or zstd, raw CSR (.csr), binsparse (.bsp.h5), \
SciPy archives (.npz), METIS graphs (.graph), edge lists and other formats listed with each argument IN. The contents \
determine the format, then the file ending. `-` is standard input. Verbs that read a matrix also accept a bundle, which \
contains its source matrix.
Results go to standard output, everything else to standard error. Output files appear complete or not at all, and \
existing ones are replaced only with `--force`. A file ending that contradicts the contents, for example a bundle in \
x.mtx, is an error (exit code 2). Without arguments, `sptile` prints commands to try; with a file instead of a verb, \
commands for that file."""

COMMON_OPTIONS = "Options of every verb, such as `--json` and `--threads`, are described in `sptile`(1)."

EXIT_CODES = [
    ("0", "Success."),
    ("2", "Usage error: an unknown verb or option, a value out of range, an existing output file."),
    ("3", "Invalid input: a file violates its format. The message is `file:line: what is wrong; what would be right`."),
    ("4", "Unsupported: the input is valid, but a format cannot represent it or no kernel supports it."),
    ("5", "System error: a missing file, or not enough space, memory or threads."),
    ("6", "A device is missing or failed."),
    ("7", "A check failed: numbers or a round trip differ, or `bench --fail-slower` found slower rows."),
    ("70", "Internal error; please report it."),
]

SIGNALS = ("SIGINT, SIGTERM and SIGHUP remove unfinished output files before they end the command. Exceeding the file "
           "size limit (`ulimit -f`) gives exit code 5.")

ENVIRONMENT = [
    ("SPTILE_THREADS", "Default of `--threads`. Programs that use the library also read it."),
    ("SPTILE_CACHE", "Directory in which programs that use the library keep measured choices of format and kernel; `off`: "
                     "nowhere. Default: XDG_CACHE_HOME/sptile or ~/.cache/sptile."),
    ("SPTILE_PROFILE", "Profile of the cost model, with priority over all others. Programs that use the library also "
                       "read it."),
    ("TMPDIR", "Directory for temporary copies of standard input, for formats that cannot be read from a pipe. "
               "Default: /tmp."),
    ("TERM", "`dumb` disables the progress bar and colors."),
    ("NO_COLOR", "If not empty, disables colors except with `--color always`."),
    ("CLICOLOR_FORCE", "If neither empty nor 0, enables colors in pipes and files unless NO_COLOR is set."),
]

FILES = [
    ("$XDG_CONFIG_HOME/sptile/profiles/*.tsv",
     "Device profiles written by `sptile calibrate`; XDG_CONFIG_HOME defaults to ~/.config. The profile with the name of "
     "the device is used, else a built-in one with that name, else the one with the nearest compute capability."),
    ("*.csr",
     "Raw CSR, little-endian: the bytes 2RSC; int32 rows, columns and value type (0 none, 6 f16, 7 bf16, 8 f32, 9 f64); "
     "int64 number of nonzeros; int64 row pointers (rows + 1); int32 columns, ascending in each row, padded with zeros "
     "to a multiple of 8 bytes; values. Files that start with 1RSC are patterns: they have neither a type nor values, "
     "and 32-bit row pointers."),
]

EXAMPLE = [
    "sptile gen planted --rows 20000 --edges 200000 --mix 0.2 --shuffle -o graph.mtx",
    "sptile convert graph.mtx graph.h5 --reorder degree",
    "sptile verify graph.h5 --against graph.mtx",
    "sptile run graph.h5 --op spmm --format rs_tile -n 128 --check",
    "sptile gen grid2d --side 300 | sptile convert - grid.h5 --format bittcf",
]
