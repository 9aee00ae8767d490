#ifndef LAYOVER_CCURL_SHIM_H
#define LAYOVER_CCURL_SHIM_H

#include <curl/curl.h>

/* Swift cannot call variadic functions. One inline wrapper for each type of argument keeps the
   compiler checking what is passed. */

/* curl_easy_setopt(3) */
static inline CURLcode layover_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode layover_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode layover_set_string(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode layover_set_pointer(CURL *handle, CURLoption option, void *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode layover_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return (curl_easy_setopt)(handle, option, value);
}
/* CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION */
static inline CURLcode layover_set_write(CURL *handle, CURLoption option, curl_write_callback value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode layover_set_read(CURL *handle, curl_read_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_READFUNCTION, value);
}
static inline CURLcode layover_set_seek(CURL *handle, curl_seek_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_SEEKFUNCTION, value);
}
static inline CURLcode layover_set_open_socket(CURL *handle, curl_opensocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}
static inline CURLcode layover_set_close_socket(CURL *handle, curl_closesocket_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}
static inline CURLcode layover_set_prereq(CURL *handle, curl_prereq_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_PREREQFUNCTION, value);
}
static inline CURLcode layover_set_resolver_start(CURL *handle, curl_resolver_start_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_RESOLVER_START_FUNCTION, value);
}
static inline CURLcode layover_set_ssl_context(CURL *handle, curl_ssl_ctx_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_SSL_CTX_FUNCTION, value);
}
static inline CURLcode layover_set_debug(CURL *handle, curl_debug_callback value) {
    return (curl_easy_setopt)(handle, CURLOPT_DEBUGFUNCTION, value);
}

/* curl_easy_getinfo(3) */
// CURLAUTH_BASIC is a macro with a cast, which Swift does not see.
static const unsigned long layover_auth_basic = CURLAUTH_BASIC;

static inline CURLcode layover_get_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode layover_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode layover_get_string(CURL *handle, CURLINFO info, const char **value) {
    return (curl_easy_getinfo)(handle, info, (char **)value);
}
static inline CURLcode layover_get_socket(CURL *handle, CURLINFO info, curl_socket_t *value) {
    return (curl_easy_getinfo)(handle, info, value);
}

/* The SSL of the connection that the transfer uses at the moment, or NULL (CURLINFO_TLS_SSL_PTR(3)). */
static inline void *layover_get_tls(CURL *handle) {
    struct curl_tlssessioninfo *info = NULL;
    CURLcode code = (curl_easy_getinfo)(handle, CURLINFO_TLS_SSL_PTR, &info);
    return code == CURLE_OK && info && info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

/* curl_multi_setopt(3) */
static inline CURLMcode layover_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}
static inline CURLMcode layover_multi_set_pointer(CURLM *multi, CURLMoption option, void *value) {
    return (curl_multi_setopt)(multi, option, value);
}
static inline CURLMcode layover_multi_set_socket(CURLM *multi, curl_socket_callback value) {
    return (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, value);
}
static inline CURLMcode layover_multi_set_timer(CURLM *multi, curl_multi_timer_callback value) {
    return (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, value);
}

/* curl_share_setopt(3) */
static inline CURLSHcode layover_share(CURLSH *share, curl_lock_data data) {
    return (curl_share_setopt)(share, CURLSHOPT_SHARE, data);
}

#endif
