internal import CDirectDNSCurl

/// A list of strings as libcurl takes it.
///
/// It must outlive the transfer that uses it.
@safe struct CurlList: ~Copyable {
  private(set) var head: UnsafeMutablePointer<curl_slist>?

  init(_ strings: [String]) {
    unsafe head = nil
    for string in strings { unsafe head = curl_slist_append(head, string) ?? head }
  }

  deinit { unsafe curl_slist_free_all(head) }
}
