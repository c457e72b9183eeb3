// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// The result for one request.
struct RewriteResult: Sendable {
  /// The URL as it was written, or the line that could not be read.
  var text: String
  var outcome: RewriteOutcome
  /// Why no address is known, if looking it up failed.
  var lookupError: DirectDNSError?
  /// Which of several arguments or lines it is, such as `URL 2 of 4: ` or `standard input:3: `.
  var place = ""

  /// The canonical URL, since another parser could read another host in the text.
  ///
  /// A URL of another scheme is not parsed, and stays as it is.
  var url: String { (try? WebURL(text))?.href ?? text }

  /// What an error is about: only the URL's origin, since everything else in a URL may be a secret, or else its place.
  var subject: String { (try? WebURL(text)).map { "\(Origin($0)): " } ?? place }

  /// Why the request is not rewritten, for people.
  var reason: String? {
    switch outcome {
    case .direct: nil
    case .bypassed(_, let reason): lookupError.map(ErrorText.line) ?? reason.description
    case .refused(let error): ErrorText.line(error)
    }
  }

  /// Why the request is not rewritten, for programs.
  var code: String? {
    switch outcome {
    case .direct: nil
    case .bypassed(_, let reason): reason.rawValue
    case .refused(let error): error.code.description
    }
  }
}
