#ifndef LAYOVER_CLINUX_SHIM_H
#define LAYOVER_CLINUX_SHIM_H

/* Linux interfaces that the Swift overlay of the C library leaves out. */
#include <sys/socket.h>
#include <linux/if.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>

#endif
