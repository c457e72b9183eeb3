// SPDX-License-Identifier: Apache-2.0
import CDirectDNSCurl
import Foundation
import HTTPTypes

@testable import DirectDNS

extension FuzzTarget {
  /// Names, URLs and addresses as people write them.
  static let names = [
    FuzzTarget("host", host),
    FuzzTarget("url", url),
    FuzzTarget("address", address),
  ]

  private static func host(_ bytes: [UInt8]) throws(BrokenRule) {
    let text = bytes.asText
    if case .failure(let error) = Result(catching: { () throws(DirectDNSError) in try HostName(text) }) {
      try require(
        error.message.printable == error.message, "an error cannot be shown: \(error.message.debugDescription)")
    }
    if let host = try? WebURL.Host(text) {
      try require((try? WebURL.Host(host.description)) == host, "a host changes when it is written: \(host)")
    }
    guard let name = try? HostName(text) else { return }
    try require((try? HostName(name.text)) == name, "a name changes when it is written: \(name)")
    try require(DNSName(name).hostName == name, "a name changes in a message: \(name)")
    try require(DNSName(name.text) == DNSName(name), "a name is another one in a zone's file: \(name)")
    try require(name.labels.allSatisfy { (1...63).contains($0.utf8.count) }, "a label's length: \(name)")
    try require(IPAddress(name.text) == nil, "a name is an address: \(name)")
  }

  /// A reference, and behind a line feed the URL that it stands at.
  private static func url(_ bytes: [UInt8]) throws(BrokenRule) {
    let (first, rest) = bytes.firstLineAndRest
    let base = try? WebURL(rest.asText)
    let read = Result { () throws(DirectDNSError) in
      if let base { try WebURL(first.asText, base: base) } else { try WebURL(first.asText) }
    }
    let url: WebURL
    switch read {
    case .success(let read): url = read
    case .failure(let error):
      return try require(
        error.message.printable == error.message, "an error cannot be shown: \(error.message.debugDescription)")
    }
    try require(url.href.utf8.allSatisfy { (0x21...0x7e).contains($0) }, "a URL that cannot be sent: \(url)")
    try require((try? WebURL(url.href)) == url, "a URL changes when it is written: \(url)")
    try require((try? WebURL(url.href, base: url)) == url, "a URL depends on its base: \(url)")
    // What is canonical is only scanned; the parser has to find the same parts in it.
    var parser = WebURLParser(url.href)
    guard let parsed = try? parser.url(base: nil), let scanned = try? WebURL(url.href) else {
      throw BrokenRule(description: "the parser refuses what it wrote: \(url)")
    }
    try require(
      parsed.href == scanned.href && parsed.host == scanned.host && parsed.effectivePort == scanned.effectivePort
        && parsed.path == scanned.path && parsed.query == scanned.query && parsed.fragment == scanned.fragment
        && parsed.hasUserInfo == scanned.hasUserInfo, "the scan finds other parts: \(url)")
    let request = HTTPRequest(url: url)
    try require((try? WebURL(request)) == url, "a URL changes as a request: \(url)")
    if let theirs = hostByLibcurl(url.href) {
      try require(theirs == url.host.description, "libcurl reads the host \(theirs) in \(url)")
    }
  }

  /// The host that libcurl finds; nil for a URL that it refuses, which then leads nowhere.
  private static func hostByLibcurl(_ href: String) -> String? {
    guard let url = unsafe curl_url() else { return nil }
    defer { unsafe curl_url_cleanup(url) }
    guard unsafe curl_url_set(url, CURLUPART_URL, href, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else {
      return nil
    }
    var host: UnsafeMutablePointer<CChar>?
    guard unsafe curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK, let host = unsafe host else { return nil }
    defer { unsafe curl_free(host) }
    return unsafe String(cString: host)
  }

  /// Addresses and networks: the same as inet_pton(3) reads.
  private static func address(_ bytes: [UInt8]) throws(BrokenRule) {
    let text = bytes.asText
    let address = IPAddress(text)
    if let address {
      try require(IPAddress(address.description) == address, "an address changes when it is written: \(address)")
      try require(IPAddress(bytes: address.bytes) == address, "an address changes as bytes: \(address)")
      try require(
        (try? WebURL.Host(WebURL.Host.address(address).description)) == .address(address), "\(address) as a host")
    }
    // A NUL would end its text.
    if !bytes.contains(0) {
      let theirs = addressBySystem(text)
      try require(address == theirs, "\(text.debugDescription): we read \(address as Any), the system \(theirs as Any)")
    }
    guard let network = IPNetwork(text) else { return }
    try require(IPNetwork(network.description) == network, "a network changes when it is written: \(network)")
    try require(
      network.contains(network.address) && network.contains(network.lastAddress)
        && network.address <= network.lastAddress,
      "a network without its own ends: \(network)")
  }

  private static func addressBySystem(_ text: String) -> IPAddress? {
    for family in [AF_INET, AF_INET6] {
      var bytes = [UInt8](repeating: 0, count: family == AF_INET ? 4 : 16)
      if unsafe inet_pton(family, text, &bytes) == 1 { return IPAddress(bytes: bytes) }
    }
    return nil
  }
}
