sptile
