SPTILE_THREADS=many sptile list devices
