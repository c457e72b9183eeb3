// SPDX-License-Identifier: Apache-2.0
import CDirectDNSOpenSSL

/// Makes certificates with OpenSSL's libcrypto, like `openssl req -x509` but without a process.
enum CertificateMaker {
  /// The step that OpenSSL failed at.
  struct Failure: Error, CustomStringConvertible {
    let step: String
    var description: String { "OpenSSL could not \(step)" }
  }

  /// Makes a certificate with a fresh key on P-256.
  ///
  /// - Parameters:
  ///   - name: the common name, cut off after 64 characters.
  ///   - validity: the start and the end, in seconds from now.
  ///   - extensions: the numbers of extensions and their values, in the format of OpenSSL's configuration
  ///     (x509v3_config(5)).
  ///   - issuer: signs it; nil for a self-signed certificate.
  /// - Returns: the certificate and its key.
  /// - Throws: a ``Failure``.
  static func make(
    name: String, validity: ClosedRange<Int>, extensions: [(Int32, String)], issuer: TLSIdentity?
  ) throws -> TLSIdentity {
    guard let certificate = unsafe X509_new(), let key = unsafe directdns_p256_key() else {
      throw Failure(step: "make a key")
    }
    defer {
      unsafe X509_free(certificate)
      unsafe EVP_PKEY_free(key)
    }
    // RFC 5280 appendix A: ub-common-name is 64 characters. Clients check the alternative names, which have no limit.
    let name = Array(String(name.unicodeScalars.prefix(64)).utf8)
    try check("fill in the certificate") {
      unsafe X509_set_version(certificate, Int(X509_VERSION_3)) == 1
        && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1 ... .max >> 1)) == 1
        && X509_gmtime_adj(X509_getm_notBefore(certificate), validity.lowerBound) != nil
        && X509_gmtime_adj(X509_getm_notAfter(certificate), validity.upperBound) != nil
        && X509_set_pubkey(certificate, key) == 1
        && X509_NAME_add_entry_by_txt(
          X509_get_subject_name(certificate), "CN", MBSTRING_UTF8, name, Int32(name.count), -1, 0) == 1
    }
    guard let issuer else {
      try unsafe sign(certificate, by: (certificate, key), extensions)
      return try unsafe identity(certificate, key)
    }
    let by = unsafe (
      try read(issuer.certificates[0]) { unsafe PEM_read_bio_X509($0, nil, nil, nil) },
      try read(issuer.privateKey) { unsafe PEM_read_bio_PrivateKey($0, nil, nil, nil) }
    )
    defer {
      unsafe X509_free(by.0)
      unsafe EVP_PKEY_free(by.1)
    }
    try unsafe sign(certificate, by: by, extensions)
    return try unsafe identity(certificate, key)
  }

  /// A DER certificate as PEM text.
  static func pem(der: [UInt8]) throws -> String {
    let certificate = unsafe der.withUnsafeBufferPointer { buffer in
      var start = buffer.baseAddress
      return unsafe d2i_X509(nil, &start, buffer.count)
    }
    guard let certificate = unsafe certificate else { throw Failure(step: "read a certificate") }
    defer { unsafe X509_free(certificate) }
    return try unsafe write { unsafe PEM_write_bio_X509($0, certificate) }
  }

  private static func sign(
    _ certificate: OpaquePointer, by issuer: (certificate: OpaquePointer, key: OpaquePointer),
    _ extensions: [(Int32, String)]
  ) throws {
    try check("name the issuer") {
      unsafe X509_set_issuer_name(certificate, X509_get_subject_name(issuer.certificate)) == 1
    }
    var context = unsafe X509V3_CTX()
    unsafe directdns_x509v3_context(&context, issuer.certificate, certificate)
    for (number, value) in extensions {
      try check("add \(value)") {
        guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, number, value) else { return false }
        defer { unsafe X509_EXTENSION_free(made) }
        return unsafe X509_add_ext(certificate, made, -1) == 1
      }
    }
    try check("sign") { unsafe X509_sign(certificate, issuer.key, EVP_sha256()) > 0 }
  }

  private static func identity(_ certificate: OpaquePointer, _ key: OpaquePointer) throws -> TLSIdentity {
    TLSIdentity(
      certificates: [try unsafe write { unsafe PEM_write_bio_X509($0, certificate) }],
      privateKey: try unsafe write { unsafe PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) })
  }

  private static func read(_ pem: String, _ body: (OpaquePointer?) -> OpaquePointer?) throws -> OpaquePointer {
    var pem = pem
    // The BIO reads the text where it lies: it has to stay there until it is read.
    let found = pem.withUTF8 { text in
      let bio = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count))
      defer { unsafe BIO_free(bio) }
      return unsafe body(bio)
    }
    guard let found = unsafe found else { throw Failure(step: "read what it has written") }
    return unsafe found
  }

  /// PEM text, without the end of its last line.
  private static func write(_ body: (OpaquePointer?) -> Int32) throws -> String {
    let bio = unsafe BIO_new(BIO_s_mem())
    defer { unsafe BIO_free(bio) }
    try check("write PEM") { unsafe body(bio) == 1 }
    var text: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 16_384)
    while case let count = unsafe BIO_read(bio, &bytes, Int32(bytes.count)), count > 0 {
      text += bytes.prefix(Int(count))
    }
    return String(decoding: text.dropLast(), as: UTF8.self)
  }

  private static func check(_ step: String, _ isDone: () -> Bool) throws {
    guard isDone() else { throw Failure(step: step) }
  }
}
