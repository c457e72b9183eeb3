// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// A fresh key on P-256: `EVP_EC_gen` is a macro.
static inline EVP_PKEY *directdns_p256_key(void) { return EVP_EC_gen("P-256"); }

/// Tells from whom and for whom the extensions of a certificate are made: a macro in older versions.
static inline void directdns_x509v3_context(X509V3_CTX *context, X509 *issuer, X509 *subject) {
  X509V3_set_ctx(context, issuer, subject, NULL, NULL, 0);
  X509V3_set_ctx_nodb(context);
}

/// Macros both.
static inline int directdns_gcm_tag(EVP_CIPHER_CTX *context, int size, unsigned char *tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, size, tag);
}
static inline int directdns_gcm_expect_tag(EVP_CIPHER_CTX *context, int size, unsigned char *tag) {
  return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, size, tag);
}
