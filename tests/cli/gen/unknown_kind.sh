sptile gen cube --side 3
