# HDF5 that is neither a bundle nor binsparse says so, and so does a file that only begins like HDF5.
sptile gen grid2d --side 3 -o a.mtx -q && sptile convert a.mtx a.h5 -q --format csr
h5copy -i a.h5 -o foreign.h5 -s /shape -d /shape
sptile convert foreign.h5 out.h5 || echo "$?"
{ printf '\211HDF\r\n\032\n'; head -c 5000 /dev/zero; } > damaged.h5
sptile convert damaged.h5 out.h5
