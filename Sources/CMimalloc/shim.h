#ifndef LAYOVER_CMIMALLOC_SHIM_H
#define LAYOVER_CMIMALLOC_SHIM_H

/* Linking it is all: its malloc takes the place of the C library's in the whole process. */
#include <mimalloc.h>

#endif
