/* valgrind 3.19 takes signals of its own out of the mask that sigsuspend(2) is given, in place. The mask of
   libdispatch, which lets the main thread wait there for ever, is constant: valgrind would end by SIGSEGV. */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask)
{
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
