/* Everything that this rank says, in a file of its own (--log-all): the time in UTC, rank and host
 * before each line. */
#ifndef CLM_CLI_LOG_FILE_H
#define CLM_CLI_LOG_FILE_H

#include "cli/text.h"

#include <stdbool.h>
#include <stdio.h>

/* Zeroed, it wants no lines. One thread at a time. */
typedef struct clm__log_file {
  bool is_wanted;
  int rank;
  char host[256];
  clm__text kept; /* lines until there is a stream */
  FILE *stream;
} clm__log_file;

/* From here on lines are kept until the file can be opened. */
void clm__log_file_begin(clm__log_file *file, int rank, const char *host);

/* FOLDER/rank-0003.log; taken by the caller. */
clm__text clm__log_file_name(const clm__log_file *file, const char *folder);

/* Opens the file of this name, in a folder that is made where the one above it is there; a file
 * that is there goes on. False, with errno, where it cannot be written: then no more lines are
 * wanted. */
bool clm__log_file_open(clm__log_file *file, const char *folder, const char *name);

/* Adds a line; the program's name is left out of `prefix`. False, with errno, where it cannot be
 * written: then no more lines are wanted. */
bool clm__log_file_add(clm__log_file *file, const char *prefix, const char *text);

void clm__log_file_close(clm__log_file *file);

#endif
