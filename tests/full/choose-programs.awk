# Chooses, from sorted lines "FILE<TAB>OPTIONS<TAB>VARIANT", the programs that other compilers are
# given. Most options are sizes, which change no code. Of each file and variant are taken the first
# program, the one with the largest sizes, and those that bring a new value of an option which has few
# values, since such an option may choose other code.
BEGIN { FS = "\t" }

{
  key = $1 FS $3
  lines[NR] = $0
  keys[NR] = key
  options[NR] = $2
  count = split($2, words, " ")
  total = 0
  for (i = 1; i <= count; i++) {
    name = value = words[i]
    sub(/=.*/, "", name)
    sub(/.*=/, "", value)
    total += value
    if (!((key, words[i]) in seen)) values[key, name]++
    seen[key, words[i]] = 1
  }
  if (!(key in largest) || total > most[key]) {
    largest[key] = NR
    most[key] = total
  }
}

END {
  for (row = 1; row <= NR; row++) {
    key = keys[row]
    count = split(options[row], words, " ")
    few = count == 1 ? 12 : 3
    take = !(key in taken) || largest[key] == row
    for (i = 1; i <= count; i++) {
      name = words[i]
      sub(/=.*/, "", name)
      if (values[key, name] <= few && !((key, words[i]) in done)) take = 1
    }
    if (!take) continue
    print lines[row]
    taken[key] = 1
    for (i = 1; i <= count; i++) done[key, words[i]] = 1
  }
}
