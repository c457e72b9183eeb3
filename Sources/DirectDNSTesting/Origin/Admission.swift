// SPDX-License-Identifier: Apache-2.0
/// What a ``FakeOrigin`` does with a request whose head has come.
public enum Admission: Hashable, Sendable {
  /// Reads the body; a client that asked by `Expect: 100-continue` is told to send it.
  case read
  /// Reads the body if it comes, and never says `100 Continue`.
  case readUnannounced
  /// Answers without the body: with 417 or 413, for example.
  ///
  /// What comes of the body is thrown away. HTTP/1.1 says `Connection: close` if there is to be a body, and ends its
  /// side of the connection after the response.
  case answer(OriginResponse)
}
