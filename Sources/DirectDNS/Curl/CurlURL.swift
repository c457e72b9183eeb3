// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// A URL that libcurl has parsed (libcurl-url(3)).
@safe final class CurlURL {
  private let handle: OpaquePointer? = unsafe curl_url()
  /// What was parsed; empty if nothing could be.
  private(set) var text = ""

  deinit { unsafe curl_url_cleanup(handle) }

  /// Parses a URL, for CURLOPT_CURLU; nil if it cannot be, or there is no memory for it.
  func parse(_ text: String) -> UnsafeRawPointer? {
    let flags = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME)
    guard let handle = unsafe handle else { return nil }
    if text != self.text {
      self.text = unsafe curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK ? text : ""
    }
    return self.text.isEmpty ? nil : unsafe UnsafeRawPointer(handle)
  }

  /// How many bytes of a URL are before its path; nil if it has none, or if libcurl would not send the rest as it is.
  static func originLength(of url: String) -> Int? {
    let bytes = url.utf8.span
    var (slashes, length) = (0, 0)
    for index in bytes.indices {
      switch bytes[index] {
      case ASCII.slash:
        slashes += 1
        if slashes == 3 { length = index }
      case UInt8(ascii: "#"), ...0x20, 0x7F...: return nil
      case UInt8(ascii: "?") where slashes < 3: return nil
      default: break
      }
    }
    return slashes < 3 ? nil : length
  }
}
