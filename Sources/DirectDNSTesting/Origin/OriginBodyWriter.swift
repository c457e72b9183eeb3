// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// Writes the body of one response of a ``FakeOrigin``, piece by piece.
///
/// Each call returns when the system has taken its bytes, and throws if the client has disconnected. A client that does
/// not read makes it wait: a few hundred kilobytes fit into the system's buffers.
public struct OriginBodyWriter: Sendable {
  let response: ResponseWriter

  /// Writes bytes.
  public func write(_ bytes: [UInt8]) async throws { try await response.write(bytes[...]).get() }

  /// Writes a text in UTF-8.
  public func write(_ text: String) async throws { try await write(Array(text.utf8)) }

  /// Writes so many bytes of ``GeneratedBody``, from its beginning.
  public func write(generated count: Int) async throws {
    // One buffer is used for all pieces, since it holds whole periods.
    let buffer = ByteBuffer(bytes: GeneratedBody.bytes(GeneratedBody.period * 1024))
    var left = count
    while left > 0 {
      let size = min(left, buffer.readableBytes)
      try await response.write(buffer.getSlice(at: buffer.readerIndex, length: size) ?? buffer).get()
      left -= size
    }
  }
}
