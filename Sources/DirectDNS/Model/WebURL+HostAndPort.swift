// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// A host and, behind a colon, a port: the tail of a URL's authority (WHATWG URL §4.4, host and port state).
  package struct HostAndPort {
    package let host: Host
    /// The port; nil when there is none, or nothing behind the colon.
    package let port: UInt16?

    package init(_ text: Span<UInt8>) throws(DirectDNSError) {
      let colon = HostAndPort.colon(in: text)
      do {
        host = try Host(utf8: text.extracting(0..<(colon ?? text.count)))
      } catch {
        throw DirectDNSError(
          .invalidURL, "the host cannot be used: \(error.message)", underlying: error)
      }
      port = if let colon { try HostAndPort.port(text.extracting(colon + 1..<text.count)) } else { nil }
    }

    /// The colon before the port: the first one outside brackets.
    private static func colon(in text: Span<UInt8>) -> Int? {
      var isInBrackets = false
      for index in text.indices {
        switch text[index] {
        case ASCII.openBracket: isInBrackets = true
        case ASCII.closeBracket: isInBrackets = false
        case ASCII.colon where !isInBrackets: return index
        default: break
        }
      }
      return nil
    }

    private static func port(_ digits: Span<UInt8>) throws(DirectDNSError) -> UInt16? {
      var value: UInt32 = 0
      for index in digits.indices {
        guard ASCII.isDigit(digits[index]) else {
          throw DirectDNSError(
            .invalidURL, "the port is not a number: write digits only after the colon")
        }
        value = value * 10 + UInt32(digits[index] - ASCII.zero)
        guard value <= UInt16.max else {
          throw DirectDNSError(.invalidURL, "the port is above 65535, which no port is")
        }
      }
      return digits.isEmpty ? nil : UInt16(value)
    }
  }
}
