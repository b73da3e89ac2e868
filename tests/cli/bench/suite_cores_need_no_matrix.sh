sptile bench --suite libra --device cpu --experiment fig4
