#include "launch/shell.h"

#include <string.h>

static bool is_harmless(const char *word)
{
  static const char harmless[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "_-+=:,./@%";
  /* A leading ~ or = is expanded by some shells; an empty word would vanish. */
  return word[0] != '\0' && word[0] != '=' && word[strspn(word, harmless)] == '\0';
}

clm_status clm__shell_add(clm__str *str, const char *word)
{
  if (is_harmless(word)) return clm__str_add(str, "%s", word);
  CLM_TRY(clm__str_add(str, "'"));
  for (;;) {
    const size_t plain = strcspn(word, "'");
    CLM_TRY(clm__str_add_bytes(str, word, plain));
    if (word[plain] == '\0') break;
    CLM_TRY(clm__str_add(str, "'\\''"));
    word += plain + 1;
  }
  return clm__str_add(str, "'");
}

clm_status clm__shell_add_words(clm__str *str, const clm__words *words)
{
  for (size_t i = 0; i < words->count; i++) {
    if (i > 0) CLM_TRY(clm__str_add(str, " "));
    CLM_TRY(clm__shell_add(str, words->items[i]));
  }
  return CLM_OK;
}
