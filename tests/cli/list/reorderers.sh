sptile list reorderers
