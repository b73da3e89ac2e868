sptile list format
