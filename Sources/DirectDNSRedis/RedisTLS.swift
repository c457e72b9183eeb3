// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSHiredis
internal import DirectDNS

/// TLS over the socket of a connection, by OpenSSL: `libhiredis_ssl` is not in every system that has hiredis.
@safe struct RedisTLS: ~Copyable {
  private let session: OpaquePointer

  /// Shakes hands, and takes a server whose certificate is for the host.
  ///
  /// The limit is for each time that something is waited for; all of it may take ten times as long.
  static func open(
    _ configuration: RedisStoreConfiguration.TLS, host: WebURL.Host, socket: Int32, limit: Duration
  ) throws(RedisConnection.Failure) -> RedisTLS {
    let context = unsafe try Self.context(configuration)
    // The session holds it from here on.
    defer { unsafe SSL_CTX_free(context) }
    guard let session = unsafe SSL_new(context) else { throw .connection("no memory") }
    let tls = unsafe RedisTLS(session)
    let isSet: Bool
    switch host {
    case .name(let full):
      let name = Self.serverName(full)
      isSet = unsafe directdns_tls_name(session, name) == 1 && SSL_set1_host(session, name) == 1
    case .address(let address):
      isSet = unsafe X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), address.description) == 1
    }
    guard isSet, unsafe SSL_set_fd(session, socket) == 1 else { throw .connection("no memory") }
    unsafe SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    ERR_clear_error()
    let (each, all) = (limit.wholeMilliseconds, (limit * 10).wholeMilliseconds)
    let status = unsafe directdns_tls_connect(
      session, socket, Int32(clamping: max(1, each)), Int32(clamping: max(1, all)))
    guard status != 1 else { return tls }
    let verdict = unsafe SSL_get_verify_result(session)
    guard verdict == Int(X509_V_OK) else {
      throw unsafe .certificate(String(cString: X509_verify_cert_error_string(verdict)))
    }
    let failure = tls.failure(status)
    // A Redis without TLS waits for the end of a line, which a ClientHello need not have.
    throw failure == .timedOut ? .noHandshake : failure
  }

  /// A host's name as certificates and servers know it: without a final dot (RFC 6066 §3).
  static func serverName(_ host: String) -> String { host.hasSuffix(".") ? String(host.dropLast()) : host }

  private init(_ session: OpaquePointer) { unsafe self.session = session }

  deinit { unsafe SSL_free(session) }

  /// Sends bytes.
  borrowing func send(_ bytes: [UInt8]) throws(RedisConnection.Failure) {
    ERR_clear_error()
    var count = 0
    let status = unsafe directdns_tls_write(session, bytes, bytes.count, &count)
    guard status != 1 else { return }
    var reason = failure(status)
    guard case .connection = reason else { throw reason }
    // A server that has closed the connection may have said why before: that it wants a certificate, for one.
    do throws(RedisConnection.Failure) { _ = try receive() } catch {
      if case .connection = error { reason = error }
    }
    throw reason
  }

  /// Waits for bytes.
  borrowing func receive() throws(RedisConnection.Failure) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    ERR_clear_error()
    let count = unsafe directdns_tls_read(session, &bytes, Int32(bytes.count))
    guard count > 0 else { throw failure(count) }
    return Array(bytes.prefix(Int(count)))
  }

  private borrowing func failure(_ status: Int32) -> RedisConnection.Failure {
    switch unsafe SSL_get_error(session, status) {
    // The socket waits as long as it may: nothing is there after that.
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .timedOut
    case SSL_ERROR_ZERO_RETURN: .connection("it closed the connection")
    default: unsafe .connection("TLS: " + String(cString: directdns_tls_reason(ERR_peek_error())))
    }
  }

  private static func context(
    _ configuration: RedisStoreConfiguration.TLS
  ) throws(RedisConnection.Failure) -> OpaquePointer {
    guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw .connection("no memory") }
    unsafe directdns_tls_ask_nobody(context)
    var wrong: String?
    if unsafe directdns_tls_at_least_1_2(context) != 1 || SSL_CTX_set_default_verify_paths(context) != 1 {
      wrong = "OpenSSL is not set up"
    }
    unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    if let path = configuration.authorities, unsafe SSL_CTX_load_verify_locations(context, path, nil) != 1 {
      wrong = unreadable(path) ?? "\(DirectDNSError.quoted(path)) holds no certificates that can be read"
    }
    if let identity = configuration.identity {
      if unsafe SSL_CTX_use_certificate_chain_file(context, identity.certificate) != 1 {
        wrong =
          unreadable(identity.certificate)
          ?? "\(DirectDNSError.quoted(identity.certificate)) holds no certificate that can be read"
      } else if unsafe SSL_CTX_use_PrivateKey_file(context, identity.key, SSL_FILETYPE_PEM) != 1 {
        wrong =
          unreadable(identity.key)
          ?? "\(DirectDNSError.quoted(identity.key)) holds no key of that certificate that can be read without a password"
      }
    }
    guard let wrong else { return unsafe context }
    unsafe SSL_CTX_free(context)
    throw .setting(wrong)
  }

  /// That a file cannot be read, and why; nil if it can.
  ///
  /// Asked where OpenSSL has failed, and not before: what a pipe holds can be read once.
  private static func unreadable(_ path: String) -> String? {
    guard !path.isPEM else {
      return "a text in PEM form stands in place of a file's path: write that into a file, and give the file's path"
    }
    do throws(FileFailure) {
      _ = try ReadableFile(path, waits: false)
      return nil
    } catch {
      return "\(DirectDNSError.quoted(path)) cannot be read: \(error.reason)"
    }
  }
}
