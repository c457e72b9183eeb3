// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Foundation

extension URL {
  /// The URL as Foundation has it; nil where that would read another one.
  init?(_ url: WebURL) {
    let text = url.rfc3986
    self.init(string: text)
    guard absoluteString == text else { return nil }
  }
}

extension DirectDNSError {
  /// Foundation has no URL for one that was asked for, or led to.
  static func noFoundationURL(_ url: WebURL) -> DirectDNSError {
    DirectDNSError(.invalidURL, "Foundation cannot read the URL at \(Origin(url)): use another host, or DirectClient")
  }
}
