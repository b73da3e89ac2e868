# Each shell that is here takes its script; JSON has the command as data.
for shell in bash zsh fish; do
  sptile completions $shell > script
  if command -v $shell > /dev/null; then $shell -n script; fi
  grep -q "made by 'sptile completions $shell'" script
done
sptile completions bash --json | json-has shell script command.name 'command.below[].options[].names'
