sptile list formats
