/* Folders of tests. */
#ifndef CLM_TESTS_FOLDER_H
#define CLM_TESTS_FOLDER_H

/* The project's tests/ folder. */
const char *tests_folder(void);

/* A fresh empty folder under $TMPDIR; the caller frees it with remove_folder. */
char *make_folder(void);

/* Removes a folder made by make_folder with all that is in it, and frees the name. */
void remove_folder(char *path);

/* The flowers photographs: $CLEMATIS_PHOTOS, else shared/data/flower_photos beside the checkout.
 * NULL, after printing so, where there are none. */
const char *photos_folder(void);

#endif
