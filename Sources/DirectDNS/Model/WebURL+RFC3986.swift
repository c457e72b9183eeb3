// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The URL for parsers that go by RFC 3986, such as Foundation's.
  ///
  /// A browser leaves `|`, `[`, `^`, a lone `%` and others as they are (WHATWG URL §1.3). Foundation takes a text with
  /// one of them for one that nobody has encoded yet, and encodes the whole of it, each `%` included. The host, which
  /// has none of them in any name that can be looked up, stays as it is.
  package var rfc3986: String {
    let text = href.utf8.span
    let host = Int(layout.hostStart)..<Int(layout.hostEnd)
    let strangers = text.indices.filter { !host.contains($0) && isStranger(at: $0, in: text) }
    guard !strangers.isEmpty else { return href }
    var output: [UInt8] = []
    var start = 0
    for stranger in strangers {
      for index in start..<stranger { output.append(text[index]) }
      // Each is of its set, a percent sign and a hash by way of what encodes all but letters and digits.
      PercentEncoding.append(text.extracting(stranger..<stranger + 1), .reserved, to: &output)
      start = stranger + 1
    }
    for index in start..<text.count { output.append(text[index]) }
    return String(decoding: output, as: UTF8.self)
  }

  private func isStranger(at index: Int, in text: Span<UInt8>) -> Bool {
    switch text[index] {
    case ASCII.percent:
      index + 2 >= text.count || ASCII.hexValue(text[index + 1]) == nil || ASCII.hexValue(text[index + 2]) == nil
    case ASCII.hash: index != Int(layout.queryEnd)
    case let byte: PercentEncoding.EncodeSet.notRFC3986.contains(byte)
    }
  }
}
