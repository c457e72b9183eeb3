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

  /// How connections are encrypted, by TLS 1.2 or newer, and how the server is verified.
  ///
  /// Its certificate must be for the host in ``RedisStoreConfiguration/server``, and be issued by an authority of the
  /// system's or of ``authorities``.
  public struct TLS: Sendable, Hashable {
    /// The path of a file with further certificate authorities (PEM); nil for those of the system alone.
    ///
    /// Default nil.
    public var authorities: String?
    /// The client certificate for a server that asks for one (`tls-auth-clients`), with its key.
    ///
    /// Default nil.
    public var identity: Identity?

    /// A client certificate and its key, each in a file.
    public struct Identity: Sendable, Hashable {
      /// The path of the certificate and its chain (PEM).
      public var certificate: String
      /// The path of the key (PEM), which must not be encrypted with a password.
      public var key: String

      /// Creates an identity.
      public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
      }
    }

    /// Creates TLS settings; everything has a default.
    public init(authorities: String? = nil, identity: Identity? = nil) {
      self.authorities = authorities
      self.identity = identity
    }
  }

  /// Where the server listens.
  public var server: Server
  /// How connections are encrypted; nil for no encryption.
  ///
  /// Default nil. It applies to ``Server/tcp(_:port:)`` only.
  public var tls: TLS?
  /// The user to log in as; nil for the server's default user.
  ///
  /// Default nil. Without a ``password`` it is not used.
  public var user: String?
  /// The password; nil for a server that asks for none.
  ///
  /// Default nil.
  public var password: Secret?
  /// The number of the database.
  ///
  /// Default 0.
  public var database: Int
  /// What every key begins with; fleets that share a server but must not share answers need different ones.
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
