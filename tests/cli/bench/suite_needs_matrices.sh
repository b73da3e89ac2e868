sptile bench --suite acc --device cpu
