// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import Testing

@testable import DirectDNS

/// What a response says of itself; the client's tests have what it says of its way.
struct DirectResponseTests {
  private static let date = "Wed, 21 Oct 2015 07:28:00 GMT"

  @Test(
    arguments: [
      (nil, nil, nil), ("7", nil, 7), (" 7\t", date, 7), ("0", nil, 0), ("-5", nil, nil), ("soon", date, nil),
      ("99999999999999999999", nil, 4_294_967_295), (date, "Wed, 21 Oct 2015 07:27:30 GMT", 30),
      (date, "Wed, 21 Oct 2015 07:29:00 GMT", 0), (date, nil, nil), (date, "now", nil),
    ] as [(String?, String?, Int64?)])
  func `a server asks to be left alone for so many seconds, or until a date by its own clock`(
    _ retryAfter: String?, _ date: String?, _ seconds: Int64?
  ) throws {
    var fields = HTTPFields()
    fields[.retryAfter] = retryAfter
    fields[.date] = date
    let response = DirectResponse(
      head: HTTPResponse(status: .serviceUnavailable, headerFields: fields), url: try WebURL("https://shop.test/"))
    #expect(response.retryAfter == seconds.map { Duration.seconds($0) })
  }

  @Test(
    arguments: [
      ([.contentLength: "3"], .http1_1, false), ([.transferEncoding: "chunked"], .http1_1, false),
      ([:], .http1_1, true), ([.contentLength: "3", .connection: "close"], .http1_1, true),
      ([.contentLength: "3", .connection: "Keep-Alive,\tCLOSE"], .http1_1, true),
      ([.contentLength: "3", .connection: "closed"], .http1_1, false), ([.contentLength: "3"], .http1_0, true),
      ([.contentLength: "3", .connection: "Keep-Alive"], .http1_0, false),
    ] as [(HTTPFields, ConnectionDetails.HTTPVersion, Bool)])
  func `a redirect whose connection ends with it is not read to its end`(
    _ fields: HTTPFields, _ version: ConnectionDetails.HTTPVersion, _ endsConnection: Bool
  ) throws {
    let response = DirectResponse(
      head: HTTPResponse(status: .found, headerFields: fields), url: try WebURL("http://shop.test/"),
      connection: ConnectionDetails(remotePort: 80, httpVersion: version))
    #expect(response.endsConnection == endsConnection)
  }
}
