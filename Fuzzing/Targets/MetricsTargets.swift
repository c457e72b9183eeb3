// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNSPrometheus

extension FuzzTarget {
  /// What is said to the endpoint of the metrics.
  static let metrics = [FuzzTarget("scrape-request", scrapeRequest)]

  /// A request, and whatever else a page in a browser can have sent: the same reply however its bytes come.
  private static func scrapeRequest(_ bytes: [UInt8]) throws(BrokenRule) {
    let whole = ScrapeReply.to(bytes, allowsAnyHost: false)
    if let whole {
      try require(whole.hasMetrics == (whole.status == 200 && whole.reason.isEmpty), "metrics with \(whole)")
    }
    // Each byte has all of them read that are there.
    guard bytes.count <= 512 else { return }
    for count in 0...bytes.count {
      guard let reply = ScrapeReply.to(Array(bytes[..<count]), allowsAnyHost: false) else { continue }
      return try require(reply == whole, "another reply byte by byte: \(reply), \(String(describing: whole))")
    }
    try require(whole == nil, "no reply byte by byte, and \(String(describing: whole)) at once")
  }
}
