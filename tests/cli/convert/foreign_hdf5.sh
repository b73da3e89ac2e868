{ printf '\211HDF\r\n\032\n'; head -c 5000 /dev/zero; } > foreign.h5
sptile convert foreign.h5 out.h5
