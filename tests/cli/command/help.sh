sptile --help
