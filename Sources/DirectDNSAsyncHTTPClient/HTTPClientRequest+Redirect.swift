// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import DirectDNS
  internal import HTTPTypes
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOPosix
  internal import NIOSSL

  #if canImport(Darwin)
    internal import Darwin
  #elseif canImport(Musl)
    internal import Musl
  #else
    internal import Glibc
  #endif

  extension HTTPClientRequest {
    /// The next request after a response that redirects; nil for one that the caller gets.
    ///
    /// - Parameters:
    ///   - response: the response.
    ///   - url: what it answers.
    ///   - hops: how many redirects were followed before.
    ///   - rules: how redirects are followed.
    ///   - sharedTLS: what counts for requests that have no TLS configuration of their own.
    /// - Returns: the next request.
    /// - Throws: a `DirectDNSError` where the redirect must not be followed, or the client's own error.
    func next(
      after response: HTTPClientResponse, at url: WebURL, hops: Int, by rules: DirectDNS.RedirectConfiguration,
      sharedTLS: TLSConfiguration?
    ) throws -> HTTPClientRequest? {
      guard (300..<400).contains(response.status.code) else { return nil }
      let sent = head(to: url)
      let head = HTTPResponse(
        status: .init(code: Int(response.status.code)), headerFields: HTTPFields(response.headers))
      let redirect: Redirect?
      do throws(DirectDNSError) {
        // AsyncHTTPClient does not tell whether a body can be sent once more.
        redirect = try Redirect.next(
          after: head, to: sent, body: body == nil ? .none : .oneShot, hops: hops, configuration: rules)
      } catch {
        guard error.code == .bodyNotReplayable else { throw error }
        return nil
      }
      guard let redirect else { return nil }
      var next = self
      next.url = redirect.url.href
      next.method = HTTPMethod(rawValue: redirect.request.method.rawValue)
      next.headers = HTTPHeaders(redirect.request.headerFields.map { ($0.name.rawName, $0.value) })
      next.body = nil
      // A client's certificate is a credential, which stays with its origin; all else holds everywhere. SwiftNIO asks
      // the callback for one, too.
      if redirect.crossesOrigin, var tls = tlsConfiguration ?? sharedTLS,
        !tls.certificateChain.isEmpty || tls.sslContextCallback != nil
      {
        tls.certificateChain = []
        tls.privateKey = nil
        tls.sslContextCallback = nil
        next.tlsConfiguration = tls
      }
      return next
    }
  }

  extension HTTPClientRequest {
    /// The request's head in the types of rewriting and redirects.
    func head(to url: WebURL) -> HTTPRequest {
      HTTPRequest(method: HTTPRequest.Method(method.rawValue) ?? .get, url: url, headerFields: HTTPFields(headers))
    }

    /// The request with what rewriting has taken from its fields, and added to them.
    ///
    /// All others stay as they are: what cannot be sent is AsyncHTTPClient's to refuse.
    func carrying(_ fields: HTTPFields) -> HTTPClientRequest {
      var sent = self
      for name in [HTTPField.Name.originalURL, .proxyAuthorization] where fields[name] == nil {
        sent.headers.remove(name: name.rawName)
      }
      if let credentials = fields[.authorization], !headers.contains(name: "authorization") {
        sent.headers.add(name: "authorization", value: credentials)
      }
      return sent
    }

    /// The request as it is sent: its URL has the name without a final dot, and `Host` has it as it was written.
    ///
    /// SNI has no final dot (RFC 6066 §3), nor has a name in a certificate, and the URL is where AsyncHTTPClient takes
    /// SNI from.
    func naming(_ url: WebURL) throws -> HTTPClientRequest {
      guard case .name(let written) = url.host else { return self }
      let name = try HostName(url.host).text
      guard name != written else { return self }
      var sent = self
      sent.url = try WebURL(url.text(host: .name(name))).rfc3986
      if !headers.contains(name: "host") { sent.headers.add(name: "host", value: url.hostAndPort) }
      return sent
    }
  }

  extension HTTPClientResponse {
    /// Puts the name back where the server has written its address, and the request where it was sent otherwise.
    mutating func restore(by restorer: ResponseRestorer, _ request: HTTPClientRequest) {
      headers.restore(by: restorer, isRedirect: (300..<400).contains(status.code))
      for index in history.indices {
        history[index].request = request
        history[index].responseHead.headers = headers
      }
    }

    /// Reads a redirect to its end, if it is short and comes soon: that is cheaper than a new connection.
    func readRest(until deadline: NIODeadline) async {
      let limit = 64 * 1024
      guard headers["content-length"].allSatisfy({ Int($0).map { $0 <= limit } ?? false }) else { return }
      let time = min(Self.restTime, deadline - .now())
      await withTaskGroup(of: Void.self) { group in
        group.addTask { _ = try? await body.collect(upTo: limit) }
        group.addTask { try? await Task.sleep(for: .nanoseconds(time.nanoseconds)) }
        _ = await group.next()
        group.cancelAll()
      }
    }

    /// About as long as a new connection with TLS takes, to the other end of the world.
    private static let restTime = TimeAmount.milliseconds(500)
  }

  extension HTTPFields {
    fileprivate init(_ headers: HTTPHeaders) {
      self.init(headers.compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } })
    }
  }

  extension HTTPHeaders {
    /// Puts the name back where the server has written its address.
    fileprivate mutating func restore(by restorer: ResponseRestorer, isRedirect: Bool) {
      self = HTTPHeaders(
        map { name, value in
          switch name.lowercased() {
          case "location": (name, restorer.location(value, isRedirect: isRedirect))
          case "content-location": (name, restorer.location(value, isRedirect: false))
          case "set-cookie": (name, restorer.setCookie(value))
          case "refresh": (name, restorer.refresh(value))
          default: (name, value)
          }
        })
    }
  }

  extension Error {
    /// Whether no connection came about, so that no byte of the request was sent, and the address is to blame: what this
    /// machine lacks, such as a free port, every address would fail by.
    var isOfAddress: Bool {
      switch self {
      case is CertificateNameMismatch, is NIOSSLExtraError: true
      case let error as NIOConnectionError: error.connectionErrors.allSatisfy { !$0.error.isOfThisMachine }
      case let error as HTTPClientError: error == .connectTimeout || error == .tlsHandshakeTimeout
      case let error as NIOSSLError: if case .handshakeFailed = error { true } else { false }
      case let error as IOError:
        error.errnoCode == ECONNREFUSED
          || error.isOfConnecting && [EHOSTUNREACH, ENETUNREACH, ENETDOWN].contains(error.errnoCode)
      default: false
      }
    }

    /// Whether connecting has failed: the kernel ends an established connection by the same codes, when the other side has
    /// not acknowledged what was sent.
    ///
    /// SwiftNIO says so in words alone: `connect(descriptor:addr:size:)`, or `finishing a non-blocking connect failed`.
    private var isOfConnecting: Bool { ["connect(", "non-blocking connect"].contains { "\(self)".contains($0) } }

    private var isOfThisMachine: Bool {
      guard let error = self as? IOError else { return false }
      return [EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL, EACCES, EPERM].contains(error.errnoCode)
    }
  }
#endif
