// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The certificate authorities that are trusted: the system's, and private ones in addition.
public struct TrustStore: Sendable, Hashable {
  /// Files of further certificates in PEM form; none by default.
  public var privateAuthorities: [String]
  /// A folder of the system's authorities, in files named by their hashes; nil for the usual one.
  public var certificateFolder: String?
  /// A file of the system's authorities in PEM form; nil for the usual one, which is used if there is no such folder.
  public var certificateFile: String?
  /// What has named a private authority's file, by its path: the error about the file begins with it.
  package var origins: [String: String] = [:]

  /// Whether both trust the same files, whoever has named them.
  public static func == (left: TrustStore, right: TrustStore) -> Bool {
    left.privateAuthorities == right.privateAuthorities && left.certificateFolder == right.certificateFolder
      && left.certificateFile == right.certificateFile
  }

  /// Feeds the files into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(privateAuthorities)
    hasher.combine(certificateFolder)
    hasher.combine(certificateFile)
  }

  /// Creates a trust store; without arguments, that of the system.
  ///
  /// - Parameters:
  ///   - privateAuthorities: files of further certificates in PEM form.
  ///   - environment: the environment, in which `SSL_CERT_DIR` and `SSL_CERT_FILE` may name the system's authorities,
  ///     as with OpenSSL; by default that of the process. An empty variable names nothing, as with curl, and nothing else is
  ///     read from it.
  public init(
    privateAuthorities: [String] = [], environment: [String: String]? = nil
  ) {
    self.privateAuthorities = privateAuthorities
    let environment = environment ?? ProcessInfo.processInfo.environment
    func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    certificateFolder = variable("SSL_CERT_DIR")
    certificateFile = variable("SSL_CERT_FILE")
  }

  /// Creates a trust store of those files and that folder; the environment is not read.
  ///
  /// - Parameters:
  ///   - privateAuthorities: files of further certificates in PEM form.
  ///   - certificateFolder: the folder of the system's authorities; nil for the usual one.
  ///   - certificateFile: the file of the system's authorities; nil for the usual one.
  public init(privateAuthorities: [String] = [], certificateFolder: String?, certificateFile: String?) {
    self.privateAuthorities = privateAuthorities
    self.certificateFolder = certificateFolder
    self.certificateFile = certificateFile
  }

  /// The usual folders of certificates named by their hashes.
  ///
  /// From a folder OpenSSL reads only the certificate that it needs (0.1 ms). A file is parsed completely, which takes
  /// 24 ms in each process.
  private static let folders = ["/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/openssl/certs"]
  private static let files = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/ca-certificates/cert.pem",
  ]

  /// The first line of a certificate in PEM form (RFC 7468 5.1).
  private static let beginning = "-----BEGIN CERTIFICATE-----".utf8

  /// The bytes of certificates that libcurl takes as a text (CURL_MAX_INPUT_LENGTH); a file may have more.
  private static let longestText = 8_000_000

  /// The options of libcurl for these authorities.
  ///
  /// - Parameter waits: whether to wait for the content of a FIFO.
  /// - Returns: the folder and the file, or the content of several files, since libcurl takes only one.
  /// - Throws: `invalidConfiguration` for a file that cannot be read or has no certificate, and for too long a text.
  func resolved(waits: Bool = true) throws(DirectDNSError) -> CurlTrust {
    var trust = CurlTrust()
    trust.folder = certificateFolder ?? Self.folders.first(where: Self.isHashed)
    if let file = certificateFile {
      // A bundle in the folder has the same certificates as the folder.
      let isWithin = trust.folder.map { file.hasPrefix($0.hasSuffix("/") ? $0 : $0 + "/") } ?? false
      if !isWithin { trust.file = file }
    } else if trust.folder == nil {
      trust.file = Self.files.first { FileManager.default.fileExists(atPath: $0) }
    }
    guard let first = privateAuthorities.first else { return trust }
    var areFiles = true
    var all: [UInt8] = []
    for path in privateAuthorities {
      guard !path.isPEM else {
        throw DirectDNSError(
          .invalidConfiguration,
          "A private authority is given by its text in PEM form: write that into a file, and give the file's path.")
      }
      let bytes: [UInt8]
      do throws(FileFailure) {
        let file = try ReadableFile(path, waits: waits)
        bytes = try file.readToEnd()
        // The content of a pipe can be read only once.
        if !file.isRegular { areFiles = false }
      } catch {
        throw DirectDNSError(
          .invalidConfiguration,
          "\(subject(path)) cannot be read: \(error.reason). Check its path and permissions.", underlying: error)
      }
      all += bytes + [UInt8(ascii: "\n")]
      guard bytes.indices.contains(where: { bytes[$0...].starts(with: Self.beginning) }) else {
        throw DirectDNSError(
          .invalidConfiguration, "\(subject(path)) holds no certificate in PEM form. Convert it: openssl x509.")
      }
    }
    if privateAuthorities.count == 1, trust.file == nil, areFiles {
      trust.file = first
      trust.content = all
    } else {
      all += trust.file.flatMap { FileManager.default.contents(atPath: $0) } ?? Data()
      guard all.count <= Self.longestText else {
        throw DirectDNSError(
          .invalidConfiguration,
          "The CA files have \(all.count) bytes together, and libcurl takes \(Self.longestText) of several files or a "
            + "pipe. Put the certificates that are needed into one file.")
      }
      trust.blob = all
    }
    return trust
  }

  /// A private authority's file, and what has named it, at the beginning of an error.
  private func subject(_ path: String) -> String {
    origins[path].map { "\($0): the CA file \(path)" } ?? "The CA file \(path)"
  }

  /// Whether a folder has files that are named by hashes: eight hexadecimal digits and `.0`.
  private static func isHashed(_ folder: String) -> Bool {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return false }
    return names.contains { $0.utf8.count == 10 && $0.hasSuffix(".0") }
  }
}

extension String {
  /// Whether it is a text in PEM form (RFC 7468) where the path of a file with one is wanted: no error may repeat a key.
  package var isPEM: Bool { contains("-----BEGIN ") }
}
