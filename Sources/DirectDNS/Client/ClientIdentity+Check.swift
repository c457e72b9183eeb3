// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSOpenSSL

extension ClientIdentity {
  /// Checks that there is a certificate, and the key that belongs to it; otherwise every connection would fail.
  ///
  /// libcurl reads both files for each connection, so that they may be renewed. What comes from a pipe is not checked
  /// here, since it can be read only once.
  ///
  /// - Throws: `invalidConfiguration` that names the file which is wrong.
  func check() throws(DirectDNSError) {
    let keyFile = key ?? certificate
    guard !certificate.isPEM, !keyFile.isPEM else {
      throw Self.invalid(
        "the \(certificate.isPEM ? "certificate" : "key") is given by its text in PEM form: write that into a file, and give the file's path."
      )
    }
    guard let certificateText = try Self.text(certificate), let keyText = try Self.text(keyFile) else { return }
    // OpenSSL's list of errors is per thread: what is left there would be taken for the failure of another call.
    defer { ERR_clear_error() }
    let found = unsafe Self.reading(certificateText) { unsafe PEM_read_bio_X509_AUX($0, nil, nil, nil) }
    guard let found = unsafe found else {
      throw Self.invalid("\(certificate) holds no certificate that can be read. Convert it to PEM: openssl x509.")
    }
    defer { unsafe X509_free(found) }
    // An empty password if there is none, or OpenSSL would ask for it on the terminal.
    let foundKey = unsafe (password?.text ?? "").withCString { password in
      unsafe Self.reading(keyText) {
        unsafe PEM_read_bio_PrivateKey($0, nil, nil, UnsafeMutableRawPointer(mutating: password))
      }
    }
    guard let foundKey = unsafe foundKey else {
      let advice = password == nil ? "If it has a password, give it." : "Check its password."
      throw Self.invalid("\(keyFile) holds no key that can be read. \(advice) It has to be in PEM form: openssl pkey.")
    }
    defer { unsafe EVP_PKEY_free(foundKey) }
    guard unsafe X509_check_private_key(found, foundKey) == 1 else {
      throw Self.invalid("the key in \(keyFile) is not that of the certificate in \(certificate), the first one there.")
    }
  }

  private static func invalid(_ reason: String) -> DirectDNSError {
    DirectDNSError(.invalidConfiguration, "Client certificate: \(reason)")
  }

  /// The content of a file; nil for something else, such as a pipe.
  private static func text(_ path: String) throws(DirectDNSError) -> [UInt8]? {
    guard !ReadableFile.isReadable(path) || ReadableFile.mayBeRegular(path) else { return nil }
    do throws(FileFailure) { return try ReadableFile(path, waits: false).readToEnd() } catch {
      throw DirectDNSError(
        .invalidConfiguration,
        "Client certificate: \(path) cannot be read: \(error.reason). Check its path and permissions.",
        underlying: error)
    }
  }

  private static func reading(_ text: [UInt8], _ read: (OpaquePointer?) -> OpaquePointer?) -> OpaquePointer? {
    unsafe text.withUnsafeBytes { text in
      let bio = unsafe BIO_new_mem_buf(text.baseAddress, Int32(clamping: text.count))
      defer { unsafe BIO_free(bio) }
      return unsafe read(bio)
    }
  }
}
