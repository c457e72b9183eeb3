// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
public import HTTPTypes

/// One thing that a ``FakeProvider`` does wrong.
///
/// Several can be given at once, and are combined: `misbehave(.hold, .status(503))` answers 503 when released.
public enum Misbehaviour: Sendable {
  // MARK: When

  /// Answers that much later, by the machine's own clock.
  case delay(Duration)
  /// Answers when ``FakeProvider/release()`` is called.
  case hold
  /// Sends the header section and the first half of the body; the rest on ``FakeProvider/release()``.
  case holdBody
  /// Never answers, and leaves the connection open.
  case hang
  /// Sends the body in pieces of so many bytes, with that pause before each.
  case drip(bytes: Int = 1, every: Duration)

  // MARK: The connection

  /// Closes the connection in order instead of answering.
  case close
  /// Resets the TCP connection instead of answering.
  case reset
  /// Announces the whole body in `Content-Length`, sends half of it and ends.
  case truncatedBody
  /// HTTP/2: refuses the stream unprocessed (`REFUSED_STREAM`). HTTP/1.1: closes the connection.
  case refuseStream
  /// HTTP/2: sends GOAWAY in the middle of the stream, then closes the connection. HTTP/1.1: closes it.
  ///
  /// With `processed: true` half of the answer is sent first, and the last stream is this one; otherwise nothing is
  /// sent, and the last stream is below this one: the request may be sent again.
  case goAway(processed: Bool)

  // MARK: HTTP

  /// Answers with a status, more fields and another body instead of an answer.
  ///
  /// After 1xx, except 101, nothing more is sent, and the connection is closed.
  case status(Int, fields: HTTPFields = [:], body: String = "")
  /// Answers 200 with a login page, as a captive portal does.
  case html
  /// Sends another content type; nil leaves the field out.
  case contentType(String?)
  /// Adds fields to the answer, which replace those of the same names.
  case fields(HTTPFields)
  /// Sends an empty body.
  case emptyBody
  /// Sends other bytes as the body, under the right content type.
  case body([UInt8])
  /// Lengthens the body to that many bytes, with spaces after JSON and text and zeros after DNS messages.
  case padded(to: Int)
  /// Sends the body without `Content-Length`.
  case chunked
  /// Sends the body gzip'ed, with `Content-Encoding`, whatever the client accepts.
  case gzip
  /// Adds `Age`: the answer was in a cache for so many seconds.
  case age(Int)
  /// Sets `Cache-Control`; nil leaves it out.
  case cacheControl(String?)
  /// Sets `Date` that many seconds off.
  case dateOff(by: Int64)

  // MARK: Accounts

  /// Refuses the credentials in the way of the format: 401; EMAS `InvalidSignature`; DNSPod an unreadable body.
  case badKey
  /// EMAS: fails with a code such as `ServiceLevelDeny`; the status is 403 in v1 and 200 in v2 unless given.
  case vendorError(String, status: Int? = nil)
  /// EMAS v2: answers with no address and this `no_ip_code`.
  case noAddressCode(String)
  /// EMAS: adds this text as `extra`, escaped for HTML as EMAS does.
  case extra(String)

  // MARK: DNS

  /// Answers with a response code and no records.
  case responseCode(DNSMessage.ResponseCode)
  /// Sets TC.
  case truncated
  /// Gives every record this TTL.
  case ttl(UInt32)
  /// Leaves only the aliases (CNAME) in the answer.
  case aliasOnly
  /// Answers with these records instead.
  case answers([DNSRecord])
  /// Puts an address of `poisoned.test`, a name that was not asked for, before the answer.
  case poisoned(IPAddress)
  /// Answers as if `wrong.test` had been asked for.
  case wrongQuestion
  /// RFC 8484: answers with another message id.
  case wrongID

  // MARK: JSON

  /// Leaves `Answer` out.
  case missingAnswer
  /// Sends `"Answer":[]`.
  case emptyAnswer
  /// Sends `"Answer":null`.
  case nullAnswer
  /// Leaves `Status` out.
  case missingStatus
  /// Sends `Status`, `type` and `TTL` as strings.
  case textNumbers
  /// Sends only a list of addresses, as AliDNS does for `short=1`.
  case short

  /// Answers with a status and `Retry-After`.
  public static func status(_ status: Int, retryAfter seconds: Int) -> Misbehaviour {
    .status(status, fields: [.retryAfter: "\(seconds)"])
  }

  /// Answers with a redirect.
  public static func redirect(to location: String, status: Int = 301) -> Misbehaviour {
    .status(status, fields: [.location: location])
  }
}
