sptile --version
