// SPDX-License-Identifier: Apache-2.0
/// How long a request may take.
public struct RequestTimeouts: Hashable, Sendable {
  /// For a connection, over all addresses that are tried; waiting for a free one does not count.
  ///
  /// Default: 5 s.
  public var connect: Duration
  /// For the response's head, from the moment at which the connection stands or something of the request's body was
  /// last sent.
  ///
  /// Default: 30 s.
  public var firstByte: Duration
  /// For all of it: look-up, waiting, every redirect, and the response's body.
  ///
  /// Default: 120 s.
  public var whole: Duration

  /// Creates time-outs.
  public init(
    connect: Duration = .seconds(5), firstByte: Duration = .seconds(30), whole: Duration = .seconds(120)
  ) {
    self.connect = connect
    self.firstByte = firstByte
    self.whole = whole
  }
}
