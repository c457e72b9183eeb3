// SPDX-License-Identifier: Apache-2.0
/// What a ``FakeOrigin`` does with a request whose head has come.
public enum Admission: Hashable, Sendable {
  /// Reads the body; a client that sent `Expect: 100-continue` gets `100 Continue`.
  case read
  /// Reads the body if it comes, and never sends `100 Continue`.
  case readUnannounced
  /// Answers without the body: with 417 or 413, for example.
  ///
  /// The body is dropped if it comes. In HTTP/1.1, `Connection: close` is sent if there is to be a body, and the
  /// sending direction is closed after the response.
  case answer(OriginResponse)
}
