/* libcurl alone: reads one URL by so many transfers at once, one multi handle and epoll by curl_multi_poll, until the time is over.
 * Prints requests and microseconds of CPU. What a proxy that uses libcurl's transfers cannot get below.
 *
 * libcurl_alone URL TRANSFERS SECONDS [PROXY CA-FILE]: with a proxy it is the load on one that intercepts: kept-alive TLS in tunnels. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static size_t count(char *bytes, size_t size, size_t number, void *total) {
    (void)bytes;
    *(size_t *)total += size * number;
    return size * number;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 6) return 2;
    size_t total = 0;
    long requests = 0, failures = 0;
    int running = 0, left;
    double end = now() + atof(argv[3]);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)atoi(argv[2]));
    for (int number = 0; number < atoi(argv[2]); number++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &total);
        curl_easy_setopt(easy, CURLOPT_PROXY, argc == 6 ? argv[4] : "");
        if (argc == 6) curl_easy_setopt(easy, CURLOPT_CAINFO, argv[5]);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
        curl_multi_add_handle(multi, easy);
    }
    while (now() < end) {
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        while ((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            if (message->data.result == CURLE_OK) requests++; else failures++;
            curl_multi_remove_handle(multi, easy);
            curl_multi_add_handle(multi, easy);
        }
        curl_multi_poll(multi, NULL, 0, 100, NULL);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("%ld %ld %.0f\n", requests, failures, cpu * 1e6);
    return failures > 0;
}
