#ifndef LAYOVER_COPENSSL_SHIM_H
#define LAYOVER_COPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#if OPENSSL_VERSION_NUMBER < 0x30000000L
#error "Layover needs OpenSSL 3.0 or newer."
#endif

/* OpenSSL takes parameters as an array of OSSL_PARAM, which wants pointers that are not const and that live as long as
   the call. One inline wrapper for each algorithm keeps that out of Swift and the compiler checking what is passed. */

/* HMAC with SHA-256 (EVP_MAC-HMAC(7)): prepares a context with a key. */
static inline int layover_hmac_sha256_init(EVP_MAC_CTX *context, const unsigned char *key, size_t key_size) {
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_end(),
    };
    return EVP_MAC_init(context, key, key_size, parameters);
}

/* HKDF with SHA-256, extract and expand (EVP_KDF-HKDF(7)). */
static inline int layover_hkdf_sha256(
    EVP_KDF_CTX *context, const void *key, size_t key_size, const void *salt, size_t salt_size, const void *info,
    size_t info_size, unsigned char *output, size_t output_size) {
    char digest[] = "SHA256";
    unsigned char nothing[1] = {0};
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)key, key_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt_size ? (void *)salt : nothing, salt_size),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info_size ? (void *)info : nothing, info_size),
        OSSL_PARAM_construct_end(),
    };
    return EVP_KDF_derive(context, output, output_size, parameters);
}

#endif
