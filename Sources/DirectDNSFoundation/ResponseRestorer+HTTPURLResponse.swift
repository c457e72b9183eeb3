// SPDX-License-Identifier: Apache-2.0
public import DirectDNS
internal import HTTPTypes

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

extension ResponseRestorer {
  /// The response with the name put back: into its URL, `Set-Cookie`, `Location`, `Content-Location` and `Refresh`.
  ///
  /// `URLSession` hands out several `Set-Cookie` fields as one, with commas between them. They are restored one by one and
  /// joined again, so that `HTTPCookie.cookies(withResponseHeaderFields:for:)` reads them with the restored URL;
  /// ``setCookies(of:)`` gives them apart.
  ///
  /// - Parameter response: the response to the rewritten request.
  /// - Returns: the response as it would have come by name; nil only where Foundation makes none.
  public func restore(_ response: HTTPURLResponse) -> HTTPURLResponse? {
    var restored: [String: String] = [:]
    let isRedirect = (300..<400).contains(response.statusCode)
    for case (let name as String, let value as String) in response.allHeaderFields {
      restored[name] =
        switch name.lowercased() {
        case "set-cookie": joinedSetCookie(value)
        case "location": location(value, isRedirect: isRedirect)
        case "content-location": location(value, isRedirect: false)
        case "refresh": refresh(value)
        default: value
        }
    }
    return URL(originalURL).flatMap {
      HTTPURLResponse(url: $0, statusCode: response.statusCode, httpVersion: nil, headerFields: restored)
    }
  }

  /// Several `Set-Cookie` fields in one; where none changes, the commas between them are as they came.
  private func joinedSetCookie(_ joined: String) -> String {
    let fields = JoinedSetCookie.split(joined)
    let restored = fields.map(setCookie)
    return restored == fields ? joined : restored.joined(separator: ", ")
  }

  /// The `Set-Cookie` fields of a response one by one, with the name put back: what a ``DirectDNS/CookieJar`` stores.
  ///
  /// - Parameter response: the response to the rewritten request, restored or not.
  /// - Returns: the fields' values, in order.
  public func setCookies(of response: HTTPURLResponse) -> [String] {
    response.value(forHTTPHeaderField: "Set-Cookie").map(JoinedSetCookie.split)?.map(setCookie) ?? []
  }
}
