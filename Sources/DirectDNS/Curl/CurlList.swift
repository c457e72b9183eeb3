// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// A list of strings in libcurl's form.
///
/// It must outlive the transfer that uses it.
@safe struct CurlList: ~Copyable {
  private(set) var head: UnsafeMutablePointer<curl_slist>?
  /// Whether libcurl had memory for all of its strings.
  private(set) var isComplete = true

  init(_ strings: [String]) {
    unsafe head = nil
    for string in strings { unsafe take(curl_slist_append(head, string)) }
  }

  /// A list of lines that each end with a NUL.
  init(lines: [UInt8]) {
    unsafe head = nil
    unsafe lines.withUnsafeBytes { bytes in
      guard let base = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return }
      var start = 0
      while start < bytes.count {
        let line = unsafe base + start
        unsafe take(curl_slist_append(head, line))
        start += unsafe strlen(line) + 1
      }
    }
  }

  /// Takes what curl_slist_append(3) returned: nil for want of memory, which leaves the list as it was.
  mutating func take(_ longer: UnsafeMutablePointer<curl_slist>?) {
    if let longer = unsafe longer { unsafe head = longer } else { isComplete = false }
  }

  /// Gives up the list: the caller owns it from then on.
  consuming func takeHead() -> UnsafeMutablePointer<curl_slist>? {
    let taken = unsafe head
    unsafe head = nil
    return unsafe taken
  }

  deinit { unsafe curl_slist_free_all(head) }
}
