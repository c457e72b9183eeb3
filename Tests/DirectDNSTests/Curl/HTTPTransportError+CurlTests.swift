// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Testing

@testable import DirectDNS

struct HTTPTransportErrorCurlTests {
  private func kind(_ code: CURLcode, detail: String = "") -> String {
    switch HTTPTransportError(code, detail: detail) {
    case .connect, .noSocket, .refusedByProxy: "connect"
    case .tls: "tls"
    case .tlsSetup: "tlsSetup"
    case .timedOut: "timedOut"
    case .bodyTooLarge: "bodyTooLarge"
    case .fieldsTooLarge: "fieldsTooLarge"
    case .invalidRequest: "invalidRequest"
    case .connectionLost: "connectionLost"
    case .malformedResponse: "malformedResponse"
    case .cancelled: "cancelled"
    case .shutDown: "shutDown"
    }
  }

  @Test(arguments: [
    (CURLE_COULDNT_CONNECT, "connect"), (CURLE_COULDNT_RESOLVE_HOST, "connect"),
    (CURLE_PEER_FAILED_VERIFICATION, "tls"),
    (CURLE_SSL_CERTPROBLEM, "tlsSetup"), (CURLE_SSL_CACERT_BADFILE, "tlsSetup"), (CURLE_SSL_CIPHER, "tlsSetup"),
    (CURLE_SSL_ENGINE_NOTFOUND, "tlsSetup"), (CURLE_SSL_CRL_BADFILE, "tlsSetup"), (CURLE_SSL_CLIENTCERT, "tls"),
    (CURLE_SSL_CONNECT_ERROR, "tls"), (CURLE_OPERATION_TIMEDOUT, "timedOut"),
    (CURLE_FILESIZE_EXCEEDED, "bodyTooLarge"),
    (CURLE_URL_MALFORMAT, "invalidRequest"), (CURLE_UNSUPPORTED_PROTOCOL, "malformedResponse"),
    (CURLE_BAD_FUNCTION_ARGUMENT, "malformedResponse"), (CURLE_BAD_CONTENT_ENCODING, "malformedResponse"),
    (CURLE_RECV_ERROR, "connectionLost"), (CURLE_SEND_ERROR, "connectionLost"),
    (CURLE_GOT_NOTHING, "connectionLost"),
    (CURLE_PARTIAL_FILE, "connectionLost"), (CURLE_HTTP2, "connectionLost"),
    (CURLE_HTTP2_STREAM, "connectionLost"),
    (CURLE_OUT_OF_MEMORY, "connectionLost"), (CURLE_FAILED_INIT, "connectionLost"),
    (CURLE_WEIRD_SERVER_REPLY, "malformedResponse"), (CURLE_ABORTED_BY_CALLBACK, "cancelled"),
  ])
  func `each of libcurl's codes is one kind of error`(_ code: CURLcode, _ expected: String) {
    #expect(kind(code) == expected)
  }

  @Test(arguments: [
    ("HTTP/2 stream 1 was not closed cleanly: CANCEL (err 8)", true),
    ("HTTP/2 stream 1 was not closed cleanly: STREAM_CLOSED (err 5)", true),
    ("HTTP/2 stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", false), ("", false),
    ("HTTP/2 stream 1 reset by server (error 0x8 CANCEL)", true),
    ("HTTP/2 stream 1 reset by server (error 0x5 STREAM_CLOSED)", true),
    ("HTTP/2 stream 1 reset by server (error 0x2 INTERNAL_ERROR)", false),
    ("HTTP/2 stream 1 reset by curl (error 0x8 CANCEL)", false),
  ])
  func `a server that wants no more of a stream is told from one that failed`(_ text: String, _ ends: Bool) {
    #expect(HTTPTransportError.endsStream(text) == ends)
  }

  @Test func `the reason is libcurl's own`() {
    let words = unsafe String(cString: curl_easy_strerror(CURLE_COULDNT_CONNECT))
    #expect(HTTPTransportError(CURLE_COULDNT_CONNECT) == .connect(words))
  }

  @Test func `a server that speaks no HTTP is not a request that cannot be sent`() {
    let code = CURLE_UNSUPPORTED_PROTOCOL
    #expect(kind(code, detail: #"Protocol "file" not supported or disabled"#) == "invalidRequest")
    #expect(kind(code, detail: "Received HTTP/0.9 when not allowed") == "malformedResponse")
  }

  @Test(arguments: [
    ("Illegal or missing hexadecimal sequence in chunked-encoding", "malformedResponse"),
    ("Malformed encoding found in chunked-encoding", "malformedResponse"),
    ("chunk hex-length char not a hex digit: 0x6d", "malformedResponse"),
    ("chunk hex-length longer than 16", "malformedResponse"),
    ("invalid chunk size: 'ffffffffffffffff'", "malformedResponse"),
    ("Recv failure: Connection reset by peer", "connectionLost"),
  ])
  func `malformed chunks are no connection that was reset, although libcurl has one code for both`(
    _ words: String, _ expected: String
  ) {
    #expect(kind(CURLE_RECV_ERROR, detail: words) == expected)
  }

  @Test func `a client's key that does not fit is no response, although libcurl has one code for both since 8.16`() {
    let words = "unable to set private key file: 'client.pem' type PEM"
    #expect(kind(CURLE_BAD_FUNCTION_ARGUMENT, detail: words) == "tlsSetup")
    #expect(kind(CURLE_BAD_FUNCTION_ARGUMENT, detail: "Invalid Content-Length: value") == "malformedResponse")
  }

  @Test(arguments: [
    ("tlsv13 alert certificate required", "tls"), ("tlsv1 alert unknown ca", "tls"),
    ("sslv3 alert certificate expired", "tls"), ("ssl/tls alert bad certificate", "tls"),
    ("tlsv1 alert internal error", "connectionLost"), ("unexpected eof while reading", "connectionLost"),
  ])
  func `what the server says of the client's certificate is no connection that was reset`(
    _ reason: String, _ expected: String
  ) {
    let words = "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::\(reason), errno 0"
    #expect(kind(CURLE_RECV_ERROR, detail: words) == expected)
  }

  @Test func `a content coding that is unknown is told from a body that is not in it`() {
    let words = "Unrecognized content encoding type. libcurl understands deflate, gzip content encodings."
    let (unknown, wrong) = (
      HTTPTransportError(CURLE_BAD_CONTENT_ENCODING, detail: words),
      HTTPTransportError(CURLE_BAD_CONTENT_ENCODING, detail: "incorrect header check")
    )
    #expect("\(unknown)".contains("does not know the content coding") && !"\(wrong)".contains("does not know"))
  }

  @Test func `a stream that ended without a word says what helps, one that was reset says what libcurl says`() {
    let words = unsafe String(cString: curl_easy_strerror(CURLE_HTTP2_STREAM))
    #expect(HTTPTransportError(CURLE_HTTP2_STREAM, detail: "stream 1 was not closed cleanly") == .connectionLost(words))
    #expect("\(HTTPTransportError(CURLE_HTTP2_STREAM))".contains("(httpVersion)"))
  }

  @Test(arguments: [
    (CURLE_OK, AttemptEnd.complete), (CURLE_ABORTED_BY_CALLBACK, .other), (CURLE_SEND_ERROR, .sendFailed),
    (CURLE_RECV_ERROR, .connectionEnded), (CURLE_GOT_NOTHING, .connectionEnded),
    (CURLE_PARTIAL_FILE, .connectionEnded), (CURLE_HTTP2, .http2), (CURLE_HTTP2_STREAM, .other),
    (CURLE_OPERATION_TIMEDOUT, .other),
  ])
  func `each of libcurl's codes says to the pools how a transfer ended`(_ code: CURLcode, _ end: AttemptEnd) {
    #expect(AttemptEnd(code) == end)
  }

  @Test(arguments: [
    (CURLE_HTTP2_STREAM, "stream 1 was not closed cleanly: CANCEL (err 8)", AttemptEnd.streamEnded),
    (CURLE_HTTP2_STREAM, "stream 1 was not closed cleanly: INTERNAL_ERROR (err 2)", .other),
    (CURLE_RECV_ERROR, "stream 1 was not closed cleanly: CANCEL (err 8)", .connectionEnded),
  ])
  func `a stream that the server wants no more of is told from one that failed by libcurl's words`(
    _ code: CURLcode, _ words: String, _ end: AttemptEnd
  ) {
    #expect(AttemptEnd(code, detail: words) == end)
  }
}
