sptile verify nowhere.h5 --json
