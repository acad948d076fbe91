/* Data sets of an exact number of images. */
#ifndef CLM_TESTS_TRAIN_FEW_IMAGES_H
#define CLM_TESTS_TRAIN_FEW_IMAGES_H

/* Draws so many images of five classes into a new folder; a class may be left empty. */
void draw_few_images(const char *folder, int count);

#endif
