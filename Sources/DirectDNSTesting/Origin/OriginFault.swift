// SPDX-License-Identifier: Apache-2.0
/// What a ``FakeOrigin`` does instead of a response, or in the middle of one, when its handler throws it.
public enum OriginFault: Error, Hashable, Sendable {
  /// Closes the connection at once, without TLS's close_notify.
  case close
  /// Resets the TCP connection.
  case reset
  /// HTTP/2: refuses the stream unprocessed (`REFUSED_STREAM`). HTTP/1.1: closes the connection.
  case refuseStream
  /// HTTP/2: wants the request over HTTP/1.1 (`HTTP_1_1_REQUIRED`, RFC 9113 §7), and has not processed it. HTTP/1.1: closes
  /// the connection.
  case requireHTTP1
  /// HTTP/2: resets only the stream (`INTERNAL_ERROR`). HTTP/1.1: closes the connection.
  case resetStream
  /// HTTP/2: sends GOAWAY, then closes the connection. HTTP/1.1: closes it.
  ///
  /// With `processed: true` the last stream is this one; otherwise it is below this one, and the request may be sent
  /// again.
  case goAway(processed: Bool)
  /// HTTP/1.1: sends these bytes, whatever they are, and closes the connection. HTTP/2: closes it.
  case bytes([UInt8])

  /// Like ``bytes(_:)``, with a text in UTF-8.
  public static func text(_ text: String) -> OriginFault { .bytes(Array(text.utf8)) }
}
