// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import HTTPTypes

/// A restored response as one line of JSON.
struct RestoredLine: Sendable {
  let text: String
  let status: ExitStatus

  /// A response with the name put back, and its cookies checked as by a jar.
  init(_ input: RestoreInput, now: CookieTime) {
    let restored = input.restorer.restore(input.response)
    var cookies: [String] = []
    var rejections: [String] = []
    for field in restored.headerFields[values: .setCookie] {
      do throws(CookieRejection) {
        cookies.append(Self.json(try Cookie(setCookie: field, for: input.restorer.originalURL, now: now)))
      } catch {
        rejections.append(JSONLine.string(error.description))
      }
    }
    var line = JSONLine()
    line.add("headers", JSONLine.fields(restored.headerFields))
    line.add("rejectedHeaders", JSONLine.array(input.rejectedFields.map(JSONLine.string)))
    // A blank one leads nowhere, and neither do two that differ; see Redirect.
    let locations = Set(restored.headerFields[values: .location].filter { !$0.isBlankReference })
    line.add("location", locations.count == 1 ? locations.first.map(JSONLine.string) : nil)
    line.add("cookies", JSONLine.array(cookies))
    line.add("rejectedCookies", JSONLine.array(rejections))
    line.add("error", nil)
    text = line.text
    status = .answered
  }

  /// A line that could not be read.
  init(_ error: DirectDNSError) {
    var line = JSONLine()
    for key in ["headers", "rejectedHeaders", "location", "cookies", "rejectedCookies"] { line.add(key, nil) }
    line.add("error", JSONLine.object(error))
    text = line.text
    status = .noAnswer
  }

  private static func json(_ cookie: Cookie) -> String {
    var object = JSONLine()
    object.add("name", JSONLine.string(cookie.name))
    object.add("value", JSONLine.string(cookie.value))
    object.add("domain", JSONLine.string(cookie.domain.description))
    object.add("hostOnly", "\(cookie.isHostOnly)")
    object.add("path", JSONLine.string(cookie.path))
    object.add("secure", "\(cookie.isSecure)")
    object.add("httpOnly", "\(cookie.isHTTPOnly)")
    object.add("sameSite", cookie.sameSite.map { JSONLine.string($0.rawValue) })
    object.add("expires", cookie.expires.map { "\($0.secondsSince1970)" })
    return object.object
  }
}
