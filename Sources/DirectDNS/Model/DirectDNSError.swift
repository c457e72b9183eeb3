// SPDX-License-Identifier: Apache-2.0
/// The error of every call of this library that fails.
///
/// The message names the host, the provider if there is one, the reason, and what to do about it. It never holds a
/// secret: no key, token, signature or signed URL.
public struct DirectDNSError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, as a value that programs can switch on.
  ///
  /// New codes may be added.
  public struct Code: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The code's text, which does not change: it is used in `dnsctl`'s JSON and as a metrics label.
    public let rawValue: String

    /// The code of that text, known or not: it may come from JSON that another version has written.
    ///
    /// Characters that a terminal would act on are escaped.
    public init(rawValue: String) { self.rawValue = rawValue.printable }

    private init(_ spelling: String) { rawValue = spelling }

    /// The code's text.
    public var description: String { rawValue }

    /// The text is not a host name that can be looked up.
    public static let invalidName = Code("invalidName")
    /// The text is not a URL that this library can send a request to.
    public static let invalidURL = Code("invalidURL")
    /// The request cannot be sent as it is, or the lookup cannot be made: the call or one of its options is wrong.
    public static let invalidRequest = Code("invalidRequest")
    /// A configuration value cannot be used.
    public static let invalidConfiguration = Code("invalidConfiguration")
    /// Name not found: the name does not exist (RCODE 3, NXDOMAIN).
    public static let nameNotFound = Code("nameNotFound")
    /// The name exists and has no address of the family that was asked for (NODATA); or it does not exist, where a
    /// provider's format does not tell the two apart.
    public static let noAddress = Code("noAddress")
    /// The name exists and has no record of the type that was asked for (NODATA).
    public static let noRecord = Code("noRecord")
    /// Every provider failed, and so did the system's DNS if it was allowed, and there is no expired answer to use.
    public static let upstreamFailed = Code("upstreamFailed")
    /// A lookup's deadline passed before any provider answered, or one of a request's timeouts was over.
    public static let timedOut = Code("timedOut")
    /// A policy refuses to look this name up.
    public static let refused = Code("refused")
    /// The address policy forbids every address that a request could go to.
    public static let addressForbidden = Code("addressForbidden")
    /// No address of a host could be connected to.
    public static let connectFailed = Code("connectFailed")
    /// A server's certificate was refused, or TLS failed otherwise.
    public static let tlsFailed = Code("tlsFailed")
    /// A connection ended before the response was complete.
    public static let connectionLost = Code("connectionLost")
    /// What came is no HTTP response, or its head, its chunks or its content coding cannot be decoded.
    public static let malformedResponse = Code("malformedResponse")
    /// A request's body could not be read to its end.
    public static let bodyFailed = Code("bodyFailed")
    /// A response's body is larger than the caller allows.
    public static let bodyTooLarge = Code("bodyTooLarge")
    /// A response's header fields and trailers are larger than the limit.
    public static let fieldsTooLarge = Code("fieldsTooLarge")
    /// A server redirected more often than the limit allows.
    public static let tooManyRedirects = Code("tooManyRedirects")
    /// A server redirected to a URL that is not followed: not one of http or https, or one that the rules forbid.
    public static let redirectRefused = Code("redirectRefused")
    /// The body had to be sent again, and was a stream that can be sent only once.
    public static let bodyNotReplayable = Code("bodyNotReplayable")
    /// The caller was cancelled.
    public static let cancelled = Code("cancelled")
    /// A file cannot be read or written.
    public static let fileUnusable = Code("fileUnusable")
    /// An address, port or socket file cannot be listened on, or the process has no descriptors left for that.
    public static let cannotListen = Code("cannotListen")
    /// A store of answers failed, or did not answer in time.
    public static let storeFailed = Code("storeFailed")
    /// A warm-up did not reach its minimum.
    public static let warmupMissed = Code("warmupMissed")
    /// The resolver or the client was shut down.
    public static let shutDown = Code("shutDown")
  }

  /// One provider that was asked, or one address that was tried, without a usable result.
  public struct Attempt: Sendable, Hashable, CustomStringConvertible {
    /// The provider's name, such as `alidns`, or `system`; or the address.
    public let server: String
    /// Why it failed, in words.
    public let reason: String
    /// The kind of failure, which decides what a message advises.
    let kind: FailureKind

    /// The kinds of failure, by where to look for a remedy.
    enum FailureKind: Hashable, Sendable {
      /// No connection, no reply in time, or anything else.
      case network
      /// The server's certificate was not accepted, or TLS failed otherwise: what is wrong, if that is known.
      case certificate(TLSFault?)
      /// This machine could not set up TLS, for example for want of a file of authorities.
      case setup
      /// The server was reached, and its reply is not an answer.
      case reply
      /// The server was reached, and says that it fails (5xx).
      case failing
      /// A rate limit is used up: the configured one, or the server's (429).
      case rate
    }

    /// Creates an attempt.
    public init(server: String, reason: String) { self.init(server: server, reason: reason, kind: .network) }

    init(server: String, reason: String, kind: FailureKind) {
      self.server = server.printable
      self.reason = NameSpelling.shown(reason.printable)
      self.kind = kind
    }

    /// The server and the reason, as in an error's message.
    public var description: String { "\(server): \(reason)" }
  }

  /// What went wrong.
  public let code: Code
  /// What went wrong and what to do, for people: a sentence or several.
  public let message: String
  /// Every provider that was asked, in the order of asking; or every address that was tried; or the one that answered
  /// with nothing but forbidden addresses.
  ///
  /// Empty when none was.
  public let attempts: [Attempt]
  /// The error below this one, if there is one.
  public let underlying: (any Error)?

  /// Whether the request that failed, or a part of it, may have reached a server, which may have acted on it.
  ///
  /// False by default. ``DirectClient`` and the bodies of its responses set it: if it is false, nothing of the request
  /// was sent, or a server has said that it has not processed it (RFC 9113 §8.7), so that it does no harm to send it
  /// again, whatever its method (RFC 9110 §9.2.2). Behind a redirect it is always true. Errors of anything else, such as
  /// lookups, say nothing by it.
  public var mayHaveReachedServer = false

  /// Whether the same call may succeed later although nothing is changed.
  ///
  /// True for `upstreamFailed`, `timedOut`, `connectFailed`, `connectionLost` and `storeFailed`. Everything else (a
  /// name that does not exist, a URL that cannot be read, an address that the policy forbids, a certificate) fails
  /// again. It does not say whether a request may be sent twice: see ``mayHaveReachedServer``.
  public var isTransient: Bool {
    switch code {
    case .upstreamFailed, .timedOut, .connectFailed, .connectionLost, .storeFailed: true
    default: false
    }
  }

  /// Creates an error.
  ///
  /// A name in the message of the form `xn--…` is shown in Unicode, followed by that form.
  ///
  /// Characters that a terminal or a log reader would act on, such as escape codes and line feeds, are escaped, since a
  /// part of the message may come from outside.
  public init(
    _ code: Code, _ message: String, attempts: [Attempt] = [], underlying: (any Error)? = nil
  ) {
    self.code = code
    self.message = NameSpelling.shown(message.printable)
    self.attempts = attempts
    self.underlying = underlying
  }

  /// The message, and below it each provider that was asked.
  public var description: String {
    attempts.reduce(message) { $0 + "\n  " + $1.description }
  }

  /// The same error of a request that a server has, or may have.
  var reachingServer: DirectDNSError {
    var error = self
    error.mayHaveReachedServer = true
    return error
  }
}
