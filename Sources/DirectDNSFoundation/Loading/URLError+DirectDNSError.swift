// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

public import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

extension URLError {
  /// An error of this library in Foundation's terms; the error itself is ``directError``.
  ///
  /// - Parameters:
  ///   - error: the error.
  ///   - url: the URL that failed.
  public init(_ error: DirectDNSError, url: URL?) {
    self.init(Self.code(error), url, error.message, underlying: error)
  }

  /// The library's own error, with what to do about it, and each provider and address that was tried.
  public var directError: DirectDNSError? { userInfo[NSUnderlyingErrorKey] as? DirectDNSError }

  init(_ code: Code, _ url: URL?, _ message: String, underlying: DirectDNSError? = nil) {
    var info: [String: Any] = [NSLocalizedDescriptionKey: message]
    info[NSUnderlyingErrorKey] = underlying
    info[NSURLErrorFailingURLErrorKey] = url
    self.init(code, userInfo: info)
  }

  private static func code(_ error: DirectDNSError) -> Code {
    switch error.code {
    case .invalidURL, .invalidName, .invalidRequest: .badURL
    case .nameNotFound, .noAddress: .cannotFindHost
    case .upstreamFailed: .dnsLookupFailed
    case .timedOut: .timedOut
    case .refused, .addressForbidden, .connectFailed: .cannotConnectToHost
    case .tlsFailed: tlsCode(error)
    case .connectionLost: .networkConnectionLost
    case .malformedResponse: .cannotParseResponse
    case .bodyFailed, .bodyNotReplayable: .requestBodyStreamExhausted
    case .bodyTooLarge, .fieldsTooLarge: .dataLengthExceedsMaximum
    case .tooManyRedirects: .httpTooManyRedirects
    case .redirectRefused: .redirectToNonExistentLocation
    case .cancelled: .cancelled
    case .fileUnusable: .cannotOpenFile
    case .cannotListen: .resourceUnavailable
    default: .unknown
    }
  }

  /// TLS libraries tell why in words alone: these are OpenSSL's.
  private static func tlsCode(_ error: DirectDNSError) -> Code {
    let reason: String
    switch error.underlying as? HTTPTransportError {
    // A certificate, key or file of authorities of this machine's own, which says nothing about the server.
    case .tlsSetup?: return .secureConnectionFailed
    // The message has the host as well, and a host may be called anything.
    case .tls(let text)?: reason = text
    default: reason = error.message
    }
    let text = reason.lowercased()
    // libcurl's words for a connection that ends in the handshake, with the host behind them.
    if text.contains(" in connection to ") { return .secureConnectionFailed }
    // An alert is the server's word, and so about the client's.
    if HTTPTransportError.isAboutClientCertificate(text) {
      return text.contains("certificate required") ? .clientCertificateRequired : .clientCertificateRejected
    }
    if text.contains("certificate has expired") { return .serverCertificateHasBadDate }
    if text.contains("not yet valid") { return .serverCertificateNotYetValid }
    return text.contains("certificate") ? .serverCertificateUntrusted : .secureConnectionFailed
  }
}
