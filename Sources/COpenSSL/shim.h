#ifndef LAYOVER_COPENSSL_SHIM_H
#define LAYOVER_COPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

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

/* What follows is a macro in OpenSSL, which Swift cannot call. */

/* TLS 1.2 and newer, without renegotiation and compression (SSL_CTX_set_min_proto_version(3), SSL_CTX_set_options(3)). */
static inline int layover_tls_restrict(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1;
}

/* Sessions go to the callback, and are looked for by nobody (SSL_CTX_set_session_cache_mode(3)). */
static inline void layover_tls_keep_sessions(SSL_CTX *context, int (*keep)(SSL *, SSL_SESSION *)) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, keep);
}

/* Buffers of an idle connection are given back; a record is written whole or not at all (SSL_CTX_set_mode(3)). */
static inline void layover_tls_save_memory(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
}

/* The name that the client asks for (RFC 6066 section 3). */
static inline int layover_tls_set_server_name(SSL *tls, const char *name) {
    return SSL_set_tlsext_host_name(tls, name) == 1;
}

/* A BIO in memory that says "later" and not "the end" when it is empty (BIO_s_mem(3)). */
static inline BIO *layover_bio_in_memory(void) {
    BIO *bio = BIO_new(BIO_s_mem());
    if (bio) BIO_set_mem_eof_return(bio, -1);
    return bio;
}

static inline size_t layover_bio_byte_count(BIO *bio) { return BIO_ctrl_pending(bio); }

/* A name as RFC 4514 writes it, in UTF-8 (X509_NAME_print_ex(3)). */
static inline int layover_x509_name_write(BIO *output, const X509_NAME *name) {
    return X509_NAME_print_ex(output, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0;
}

/* The number of the alert that the peer sent (RFC 8446 section 6), or -1 (SSL_get_error(3), ERR_GET_REASON(3)). */
static inline int layover_tls_alert(unsigned long error) {
    int reason = ERR_GET_REASON(error);
    return ERR_GET_LIB(error) == ERR_LIB_SSL && reason > SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256
        ? reason - SSL_AD_REASON_OFFSET : -1;
}

/* Nothing is kept of sessions: the clients have them, as tickets (SSL_CTX_set_session_cache_mode(3)). */
static inline void layover_tls_keep_no_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/* A certificate that is sent behind the server's own; its users are counted (SSL_add1_chain_cert(3)). */
static inline int layover_tls_add_chain(SSL *tls, X509 *certificate) { return SSL_add1_chain_cert(tls, certificate) == 1; }

static inline void layover_openssl_free(void *memory) { OPENSSL_free(memory); }

/* A new key on the curve P-256 (EVP_PKEY_Q_keygen(3)). */
static inline EVP_PKEY *layover_p256_key(void) { return EVP_EC_gen("P-256"); }

/* No password: the standard one is asked for on the terminal (pem_password_cb(3)). */
static inline int layover_no_password(char *buffer, int size, int is_writing, void *data) {
    (void)buffer, (void)size, (void)is_writing, (void)data;
    return -1;
}

/* Adds an extension as it is written in a configuration file (x509v3_config(5)). */
static inline int layover_x509_add(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509V3_set_ctx_nodb(&context);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
    if (!extension) return 0;
    int result = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return result;
}

/* Adds the subjectAltName with one name (RFC 5280 section 4.2.1.6): GEN_DNS with a name, or GEN_IPADD with 4 or 16 bytes. */
static inline int layover_x509_add_name(X509 *certificate, int kind, const unsigned char *bytes, int size, int is_critical) {
    GENERAL_NAMES *names = GENERAL_NAMES_new();
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = ASN1_STRING_type_new(kind == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
    int result = names && name && value && ASN1_STRING_set(value, bytes, size) == 1;
    if (result) {
        GENERAL_NAME_set0_value(name, kind, value);
        value = NULL;
        result = sk_GENERAL_NAME_push(names, name) > 0;
        if (result) name = NULL;
    }
    if (result) result = X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, is_critical, X509V3_ADD_DEFAULT) == 1;
    ASN1_STRING_free(value);
    GENERAL_NAME_free(name);
    GENERAL_NAMES_free(names);
    return result;
}

#endif
