/* worker: the process that does everything clever. Builds the rooms in order, runs the loop, tears
 * down in reverse. */
#ifndef MUXD_SERVER_WORKER_H
#define MUXD_SERVER_WORKER_H
struct worker_options {
    const char *socket_path; /* as given on the command line; NULL: by the rules of the contract */
    const char *config_path; /* likewise */
};
/* Runs the worker, whose keeper is at descriptor KEEP_LINK_FD. Returns the exit status. */
int worker_main(const struct worker_options *options);
/* Writes a line into the log that a worker with these options would write. */
void worker_log(const struct worker_options *options, const char *text);
#endif
