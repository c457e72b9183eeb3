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

  /// How a connection is encrypted, and the server known.
  ///
  /// The certificate must be for the host in ``RedisStoreConfiguration/server``, by an authority of the system's or of
  /// ``authorities``.
  public struct TLS: Sendable, Hashable {
    /// The path of a file with further authorities (PEM); nil for those of the system alone.
    ///
    /// Default nil.
    public var authorities: String?
    /// The paths of what is shown to a server that asks for it (`tls-auth-clients`), as PEM: the certificate with those
    /// above it, and its key.
    ///
    /// Default nil.
    public var identity: Identity?

    /// A certificate and its key, each in a file.
    public struct Identity: Sendable, Hashable {
      /// The path of the certificate and those above it (PEM).
      public var certificate: String
      /// The path of its key (PEM), which no password protects.
      public var key: String

      /// Creates an identity.
      public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
      }
    }

    /// Creates what says how.
    public init(authorities: String? = nil, identity: Identity? = nil) {
      self.authorities = authorities
      self.identity = identity
    }
  }

  /// Where the server listens.
  public var server: Server
  /// How the connection is encrypted; nil for not at all.
  ///
  /// Default nil. It is for ``Server/tcp(_:port:)``: a socket needs none.
  public var tls: TLS?
  /// The user to log in as; nil means the default one.
  ///
  /// Without a ``password`` nobody logs in.
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
  /// Default 500 ms; less than 1 ms counts as 1 ms.
  public var connectTimeout: Duration
  /// How long the server may take to answer.
  ///
  /// Default 500 ms; less than 1 ms counts as 1 ms.
  public var timeout: Duration

  /// Creates a configuration.
  public init(
    server: Server, tls: TLS? = nil, user: String? = nil, password: Secret? = nil, database: Int = 0,
    prefix: String = "directdns:",
    connectTimeout: Duration = .milliseconds(500), timeout: Duration = .milliseconds(500)
  ) {
    self.server = server
    self.tls = tls
    self.user = user
    self.password = password
    self.database = database
    self.prefix = prefix
    self.connectTimeout = connectTimeout
    self.timeout = timeout
  }
}
