/* LD_PRELOADed into a program and all that it starts: their time runs CLOCK_RATE times as fast. Every clock that is read,
   and every wait that is bounded, in this process or one that it starts; what the kernel alone bounds (SO_RCVTIMEO) is not.
   benches/live.py --speed lives hours in minutes with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

typedef long (*raw_syscall)(long, ...);

static int64_t rate = 1, wall_began, began;
static raw_syscall kernel;

static int64_t nanos(const struct timespec *time) { return time->tv_sec * SECOND + time->tv_nsec; }
static struct timespec timespec_of(int64_t nanos) {
    return (struct timespec){.tv_sec = nanos / SECOND, .tv_nsec = nanos % SECOND};
}
static int64_t true_time(clockid_t clock) {
    struct timespec now;
    kernel(SYS_clock_gettime, clock, &now);
    return nanos(&now);
}
static int64_t beginning(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? wall_began : began;
}
static int runs_fast(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_MONOTONIC ||
           clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME;
}
/* A moment of the fast clock as one of the true clock. */
static struct timespec true_moment(const struct timespec *fast, clockid_t clock) {
    int64_t since = nanos(fast) - beginning(clock);
    return since < 0 ? *fast : timespec_of(beginning(clock) + since / rate);
}
static struct timespec true_span(const struct timespec *span) { return timespec_of((nanos(span) + rate - 1) / rate); }
static int true_millis(int millis) { return millis <= 0 ? millis : (int)((millis + rate - 1) / rate); }

/* Children count from the same beginning. */
__attribute__((constructor)) static void begin(void) {
    kernel = (raw_syscall)dlsym(RTLD_NEXT, "syscall");
    const char *told = getenv("CLOCK_RATE"), *since = getenv("CLOCK_RATE_SINCE");
    long long wall, monotonic;
    if (since && sscanf(since, "%lld %lld", &wall, &monotonic) == 2) {
        wall_began = wall;
        began = monotonic;
    } else {
        char text[64];
        wall_began = true_time(CLOCK_REALTIME);
        began = true_time(CLOCK_MONOTONIC);
        snprintf(text, sizeof text, "%lld %lld", (long long)wall_began, (long long)began);
        setenv("CLOCK_RATE_SINCE", text, 1);
    }
    int wanted = told ? atoi(told) : 1;
    rate = wanted > 0 ? wanted : 1;
}

/* --- clocks --- */

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!kernel) return (int)((raw_syscall)dlsym(RTLD_NEXT, "syscall"))(SYS_clock_gettime, clock, now);
    long failed = kernel(SYS_clock_gettime, clock, now);
    if (!failed && runs_fast(clock)) *now = timespec_of(beginning(clock) + (nanos(now) - beginning(clock)) * rate);
    return (int)failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec exact;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &exact);
    *now = (struct timeval){.tv_sec = exact.tv_sec, .tv_usec = exact.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}

/* --- waits --- */

long syscall(long number, ...) {
    long argument[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) argument[i] = va_arg(list, long);
    va_end(list);
    if (!kernel) kernel = (raw_syscall)dlsym(RTLD_NEXT, "syscall");
    struct timespec until;
    if (number == SYS_futex && argument[3]) {
        long operation = argument[1] & FUTEX_CMD_MASK;
        const struct timespec *told = (const struct timespec *)argument[3];
        if (operation == FUTEX_WAIT) {
            until = true_span(told);
            argument[3] = (long)&until;
        } else if (operation == FUTEX_WAIT_BITSET) {
            until = true_moment(told, argument[1] & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC);
            argument[3] = (long)&until;
        }
    } else if (number == SYS_clock_gettime) {
        return clock_gettime((clockid_t)argument[0], (struct timespec *)argument[1]);
    }
    return kernel(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

#define ORIGINAL(name) ((typeof(&name))dlsym(RTLD_NEXT, #name))

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left) {
    struct timespec wanted = flags & TIMER_ABSTIME ? true_moment(span, clock) : true_span(span);
    return ORIGINAL(clock_nanosleep)(clock, flags, &wanted, left);
}
int nanosleep(const struct timespec *span, struct timespec *left) {
    struct timespec wanted = true_span(span);
    int failed = ORIGINAL(nanosleep)(&wanted, left);
    if (failed && left) *left = timespec_of(nanos(left) * rate);
    return failed;
}
int usleep(useconds_t micros) {
    struct timespec span = timespec_of(micros * 1000LL);
    return nanosleep(&span, NULL);
}
unsigned sleep(unsigned secs) {
    struct timespec span = {.tv_sec = secs}, left = {0};
    return nanosleep(&span, &left) ? (unsigned)left.tv_sec : 0;
}
int epoll_wait(int epoll, struct epoll_event *events, int most, int millis) {
    return ORIGINAL(epoll_wait)(epoll, events, most, true_millis(millis));
}
int epoll_pwait(int epoll, struct epoll_event *events, int most, int millis, const sigset_t *mask) {
    return ORIGINAL(epoll_pwait)(epoll, events, most, true_millis(millis), mask);
}
int poll(struct pollfd *files, nfds_t count, int millis) { return ORIGINAL(poll)(files, count, true_millis(millis)); }
int ppoll(struct pollfd *files, nfds_t count, const struct timespec *span, const sigset_t *mask) {
    struct timespec wanted = span ? true_span(span) : (struct timespec){0};
    return ORIGINAL(ppoll)(files, count, span ? &wanted : NULL, mask);
}
int select(int count, fd_set *in, fd_set *out, fd_set *other, struct timeval *span) {
    struct timeval wanted;
    if (span) {
        int64_t micros = (span->tv_sec * 1000000LL + span->tv_usec + rate - 1) / rate;
        wanted = (struct timeval){.tv_sec = micros / 1000000, .tv_usec = micros % 1000000};
    }
    return ORIGINAL(select)(count, in, out, other, span ? &wanted : NULL);
}
int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict lock, const struct timespec *restrict until) {
    /* Nearly all conditions wait by the wall clock; one set to the monotonic clock tells a moment before it. */
    struct timespec wanted = true_moment(until, nanos(until) >= wall_began ? CLOCK_REALTIME : CLOCK_MONOTONIC);
    return ORIGINAL(pthread_cond_timedwait)(condition, lock, &wanted);
}
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *lock, clockid_t clock, const struct timespec *until) {
    struct timespec wanted = true_moment(until, clock);
    return ORIGINAL(pthread_cond_clockwait)(condition, lock, clock, &wanted);
}
int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict until) {
    struct timespec wanted = true_moment(until, CLOCK_REALTIME);
    return ORIGINAL(sem_timedwait)(semaphore, &wanted);
}
int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until) {
    struct timespec wanted = true_moment(until, clock);
    return ORIGINAL(sem_clockwait)(semaphore, clock, &wanted);
}
int timerfd_settime(int file, int flags, const struct itimerspec *told, struct itimerspec *before) {
    struct itimerspec wanted = {
        .it_interval = true_span(&told->it_interval),
        .it_value = flags & TFD_TIMER_ABSTIME ? true_moment(&told->it_value, CLOCK_MONOTONIC) : true_span(&told->it_value),
    };
    return ORIGINAL(timerfd_settime)(file, flags, &wanted, before);
}
