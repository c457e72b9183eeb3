// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// A `ca.pem` on disk, in a directory of its own, removed again with this object.
public final class CAFile: Sendable {
  /// Where the file lies.
  public let path: String

  private let directory: URL

  init(_ certificate: String) throws {
    directory = FileManager.default.temporaryDirectory
      .appending(component: "directdns-ca-\(UUID().uuidString)", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let file = directory.appending(component: "ca.pem")
    try Data(certificate.utf8).write(to: file)
    path = file.path(percentEncoded: false)
  }

  deinit { try? FileManager.default.removeItem(at: directory) }
}

extension TestCertificateAuthority {
  /// Writes the authority's certificate to a temporary file, which goes when the returned object does.
  ///
  /// Keep the object for as long as the file is needed: one in an array goes with the array's last use, which an optimised
  /// build may end before the scope (`withExtendedLifetime` keeps it). ``withCAFile(_:)`` does so by itself.
  ///
  /// - Returns: the file.
  /// - Throws: the file system's error.
  public func makeFile() throws -> CAFile { try CAFile(certificate) }

  /// Lends the path of a temporary file with the authority's certificate.
  ///
  /// - Parameter body: what needs the file; it is removed when this returns or throws.
  /// - Returns: what `body` returns.
  /// - Throws: the file system's error, or what `body` throws.
  public func withCAFile<Result>(_ body: (_ path: String) async throws -> Result) async throws -> Result {
    let file = try makeFile()
    // The file lives until its object's last use, so the object is used after the body.
    defer { withExtendedLifetime(file) {} }
    return try await body(file.path)
  }
}
