/* doctor_alone: `muxd --doctor`: what a daemon would find here, where none runs. */
#ifndef MUXD_SERVER_DOCTOR_ALONE_H
#define MUXD_SERVER_DOCTOR_ALONE_H
#include "server/worker.h"

/* Prints one JSON object, as the method `doctor` answers it. Makes no file. The exit status. */
int doctor_alone(const struct worker_options *options);
#endif
