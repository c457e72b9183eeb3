// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// Which server a ``RedisAnswerStore`` talks to, and how.
public struct RedisStoreConfiguration: Sendable, Hashable {
  /// Where the server listens.
  public enum Server: Sendable, Hashable {
    /// A host and a port.
    case tcp(WebURL.Host, port: UInt16)
    /// The path of a socket on this machine.
    case socket(String)
  }

  /// Where the server listens.
  public var server: Server
  /// The user to log in as; nil means the default one.
  public var user: String?
  /// The password; nil means that none is asked for.
  public var password: Secret?
  /// The number of the database.
  ///
  /// Default 0.
  public var database: Int
  /// What every key begins with: fleets that share a server, and must not share answers, have one each.
  ///
  /// Default `directdns:`.
  public var prefix: String
  /// How long connecting may take.
  ///
  /// Default 500 ms.
  public var connectTimeout: Duration
  /// How long the server may take to answer.
  ///
  /// Default 500 ms.
  public var timeout: Duration

  /// Creates a configuration.
  public init(
    server: Server, user: String? = nil, password: Secret? = nil, database: Int = 0, prefix: String = "directdns:",
    connectTimeout: Duration = .milliseconds(500), timeout: Duration = .milliseconds(500)
  ) {
    self.server = server
    self.user = user
    self.password = password
    self.database = database
    self.prefix = prefix
    self.connectTimeout = connectTimeout
    self.timeout = timeout
  }
}
