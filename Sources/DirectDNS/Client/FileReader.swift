// SPDX-License-Identifier: Apache-2.0
#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A file that is read piece by piece, on threads that may block.
struct FileReader: Sendable {
  private static let threads = BlockingPool("files", width: 4)
  private static let pieceSize = 128 * 1024

  private let path: String

  init(_ path: String) { self.path = path }

  /// Whether it can be read.
  var isReadable: Bool { unsafe access(path, R_OK) == 0 }

  /// The number of its bytes.
  func length() throws(DirectDNSError) -> Int64 {
    guard isReadable else { throw unusable("cannot be read") }
    var information = stat()
    guard unsafe stat(path, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw unusable("is no file of known length")
    }
    return Int64(information.st_size)
  }

  /// Writes so many bytes, from the beginning; fewer when nobody wants more.
  func read(_ length: Int64, _ write: @Sendable ([UInt8]) async -> Bool) async throws {
    // Something else may have taken its place: a FIFO is not waited for.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw unusable("cannot be opened") }
    defer { close(file) }
    var information = stat()
    guard unsafe fstat(file, &information) == 0, information.st_mode & S_IFMT == S_IFREG else {
      throw unusable("is no file any more")
    }
    var left = length
    while left > 0 {
      let size = Int(min(left, Int64(Self.pieceSize)))
      let piece = await Self.threads.run { Self.piece(of: file, size) }
      guard !piece.isEmpty else { throw unusable("became shorter while it was sent") }
      left -= Int64(piece.count)
      guard await write(piece) else { return }
    }
  }

  private static func piece(of file: CInt, _ size: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: size) { room, count in
      var got: Int
      repeat { got = unsafe Self.readOnce(file, room) } while got < 0 && errno == EINTR
      count = max(0, got)
    }
  }

  private static func readOnce(_ file: CInt, _ room: UnsafeMutableBufferPointer<UInt8>) -> Int {
    #if canImport(Darwin)
      unsafe Darwin.read(file, room.baseAddress, room.count)
    #else
      unsafe Glibc.read(file, room.baseAddress, room.count)
    #endif
  }

  private func unusable(_ reason: String) -> DirectDNSError {
    DirectDNSError(.fileUnusable, "The file \(path) \(reason). Check its path and rights.")
  }
}
