/* One line of a file of tuning values: private to tune.c. */
#ifndef CLM_DEV_TUNE_LINE_H
#define CLM_DEV_TUNE_LINE_H

#include "dev/tune.h"

#define CLM__TUNE_DEVICE_SIZE 288

typedef struct clm__tune_entry {
  char op_pass[CLM__TUNE_WORD_SIZE];
  char shape[CLM__TUNE_WORD_SIZE];
  char device[CLM__TUNE_DEVICE_SIZE];
  clm__tune_values values;
  bool is_users; /* from the user's file */
} clm__tune_entry;

/* Reads the `length` characters of a line; *reason is NULL for a sound line and for one that says
 * nothing (entry->op_pass is "" then), else what is wrong in words; static storage. */
void clm__tune_line_read(const char *line, size_t length, clm__tune_entry *entry,
                         const char **reason);

/* How precisely the device word of a line names a device: 0 where it does not. */
int clm__tune_device_rank(const char *word, const clm__device_info *info);

/* The word that names exactly this device and driver: "NAME, driver VERSION". */
void clm__tune_device_word(const clm__device_info *info, char word[CLM__TUNE_DEVICE_SIZE]);

#endif
