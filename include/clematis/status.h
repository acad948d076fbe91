/* Status codes and the error record of the calling thread. */
#ifndef CLEMATIS_STATUS_H
#define CLEMATIS_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Symbols marked CLM_API are the library's whole interface; nothing else is exported. */
#define CLM_API __attribute__((visibility("default")))
/* A result that must not be dropped. */
#define CLM_MUST_CHECK __attribute__((warn_unused_result))

/* name, exit status of the program, meaning. The one list of outcomes. */
#define CLM_STATUS_MAP(X)                                                                          \
  X(OK, 0, "success")                                                                              \
  X(USAGE, 64, "wrong argument or option")                                                         \
  X(BAD_DATA, 65, "the data or the model cannot be used")                                          \
  X(UNSUPPORTED, 65, "valid, but not supported")                                                   \
  X(DIVERGED, 65, "the loss is not a finite number")                                               \
  X(NO_INPUT, 66, "an input does not exist or cannot be read")                                     \
  X(NO_DEVICE, 69, "no usable device")                                                             \
  X(DEVICE_MEMORY, 69, "the device has not enough memory")                                         \
  X(DEVICE_FAILED, 69, "a device or its driver failed")                                            \
  X(PEER_FAILED, 69, "another rank failed")                                                        \
  X(INTERNAL, 70, "a bug in Clematis")                                                             \
  X(NO_MEMORY, 71, "the host has not enough memory")                                               \
  X(IO, 74, "reading or writing failed")                                                           \
  X(STOPPED, 75, "stopped on request after a checkpoint")

typedef enum clm_status {
#define CLM_STATUS_ENUM(name, exit_code, text) CLM_##name,
  CLM_STATUS_MAP(CLM_STATUS_ENUM)
#undef CLM_STATUS_ENUM
} clm_status;

#define CLM_ERROR_MESSAGE_SIZE 1024
#define CLM_ERROR_FRAMES_MAX 16

/* One place an error passed through. All pointers have static storage. */
typedef struct clm_error_frame {
  const char *file;
  const char *function;
  int line;
} clm_error_frame;

/* What went wrong, for a person: what, where, what to do. Plain data: may be copied. */
typedef struct clm_error {
  clm_status status;
  char message[CLM_ERROR_MESSAGE_SIZE];
  int frame_count;
  clm_error_frame frames[CLM_ERROR_FRAMES_MAX];
} clm_error;

/* The name of a status, such as "NO_DEVICE". Threads: any. */
CLM_API const char *clm_status_name(clm_status status);

/* The meaning of a status in words. Threads: any. */
CLM_API const char *clm_status_text(clm_status status);

/* The exit status a program gives for this outcome (sysexits.h where one fits). Threads: any. */
CLM_API int clm_status_exit_code(clm_status status);

/* The calling thread's last error; borrowed until the thread's next failing call. Its status is
 * CLM_OK where nothing failed. Threads: any, each has its own. */
CLM_API const clm_error *clm_error_last(void);

/* Forgets the calling thread's error. */
CLM_API void clm_error_clear(void);

#ifdef __cplusplus
}
#endif
#endif
