/* The size of a terminal is no part of POSIX.1-2008. */
#define _DEFAULT_SOURCE
#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool clm__terminal_is_live(void)
{
  static const char *const launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "SLURM_JOB_ID"};
  for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
    if (getenv(launchers[i]) != NULL) return false;
  }
  const char *kind = getenv("TERM");
  return isatty(STDOUT_FILENO) && kind != NULL && strcmp(kind, "dumb") != 0;
}

int clm__terminal_columns(void)
{
  struct winsize size;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool clm__terminal_has_colour(void)
{
  const char *wish = getenv("NO_COLOR");
  return clm__terminal_is_live() && (wish == NULL || wish[0] == '\0');
}

bool clm__terminal_is_ascii(void)
{
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *locale = getenv(names[i]);
    if (locale == NULL || locale[0] == '\0') continue;
    const char *set = strchr(locale, '.');
    return set != NULL && strcasecmp(set, ".UTF-8") != 0 && strcasecmp(set, ".utf8") != 0;
  }
  return false;
}
