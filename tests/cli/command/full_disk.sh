sptile list formats > /dev/full
