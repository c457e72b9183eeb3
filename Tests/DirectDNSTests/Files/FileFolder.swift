// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

// The C call whose name a method below has too.
private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
  unsafe read(descriptor, buffer.baseAddress, buffer.count)
}

/// A folder that goes with its test, and what can be planted in it.
final class FileFolder {
  let path: String

  init() throws {
    path =
      FileManager.default.temporaryDirectory.appending(path: "directdns-files-\(UInt64.random(in: 0 ... .max))")
      .path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  static func / (folder: FileFolder, name: String) -> String { "\(folder.path)/\(name)" }

  func write(_ text: String, to name: String, mode: mode_t = 0o644) throws {
    try text.write(toFile: self / name, atomically: false, encoding: .utf8)
    #expect(unsafe chmod(self / name, mode) == 0)
  }

  func read(_ name: String) throws -> String { try String(contentsOfFile: self / name, encoding: .utf8) }

  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

  /// The file's kind and permissions as `ls` has them, without following links.
  func kind(_ name: String) -> mode_t {
    // Not by `stat`: which module has its members depends on what else a module imports.
    guard let found = try? FileManager.default.attributesOfItem(atPath: self / name) else { return 0 }
    let kind: mode_t =
      switch found[.type] as? FileAttributeType {
      case .typeRegular: S_IFREG
      case .typeSymbolicLink: S_IFLNK
      case .typeCharacterSpecial: S_IFCHR
      case .typeDirectory: S_IFDIR
      default: S_IFIFO
      }
    return kind | mode_t((found[.posixPermissions] as? NSNumber)?.uint16Value ?? 0)
  }

  /// Opens a FIFO for reading and writing, so that its writer does not wait.
  func makeFIFO(_ name: String) -> Int32 {
    #expect(unsafe mkfifo(self / name, 0o600) == 0)
    return unsafe open(self / name, O_RDWR | O_NONBLOCK)
  }

  /// The null device under another name; only root can make one.
  func makeDevice(_ name: String) -> Bool {
    #if canImport(Glibc)
      unsafe mknod(self / name, S_IFCHR | 0o666, 259) == 0 && chmod(self / name, 0o666) == 0
    #else
      false
    #endif
  }

  static func drain(_ descriptor: Int32) -> String {
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
      count = unsafe max(0, systemRead(descriptor, buffer))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
