// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A `ca.pem` on disk, in a directory of its own, which is removed with this object.
public final class CAFile: Sendable {
  /// The file's path.
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
  /// Writes the authority's certificate to a temporary file, which is removed with the returned object.
  ///
  /// Keep the object for as long as the file is needed: an object in an array is released after the array's last use,
  /// which in an optimised build may be before the end of the scope (`withExtendedLifetime` keeps it).
  /// ``withCAFile(_:)`` does this by itself.
  ///
  /// - Returns: the file.
  /// - Throws: the file system's error.
  public func makeFile() throws -> CAFile { try CAFile(certificate) }

  /// Calls a body with the path of a temporary file with the authority's certificate.
  ///
  /// - Parameter body: uses the file, which is removed when it returns or throws.
  /// - Returns: what `body` returns.
  /// - Throws: the file system's error, or what `body` throws.
  public func withCAFile<Result>(_ body: (_ path: String) async throws -> Result) async throws -> Result {
    let file = try makeFile()
    // The file exists until its object's last use, so the object is used after the body.
    defer { withExtendedLifetime(file) {} }
    return try await body(file.path)
  }
}
